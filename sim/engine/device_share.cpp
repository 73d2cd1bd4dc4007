#include "engine/device_share.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace farandole {
namespace {

/// Of one rank, whatever the order and however many at once.
double finish_one(double begin, double work, double share, std::vector<std::pair<double, double>> communicating) {
  std::ranges::sort(communicating);
  double done = begin + work;
  double covered = begin;
  for (const auto& [from, to] : communicating) {
    const double start = std::max(from, covered);
    if (start >= done) break;
    done += share * std::max(0.0, std::min((done - start) / (1 - share), to - start));
    covered = std::max(covered, to);
  }
  return done;
}

}  // namespace

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& work,
                              std::span<const TaskTimes> communications) const {
  if (share_ == 0) return begin + work;
  RankTimes done = begin + work;  // were nothing more to come
  if (several_at_once_) {
    for (Eigen::Index rank = 0; rank < done.size(); ++rank) {
      std::vector<std::pair<double, double>> own;
      for (const TaskTimes& times : communications) own.emplace_back(times.reducing[rank], times.reduced[rank]);
      done[rank] = finish_one(begin[rank], work[rank], share_, std::move(own));
    }
    return done;
  }
  for (const TaskTimes& times : communications) done += taken_by(times, begin, done);
  return done;
}

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& factors, Seconds work,
                              std::span<const TaskTimes> communications, std::size_t known, Taken& taken) const {
  if (share_ == 0 || several_at_once_) return finish(begin, factors * work.si(), communications);
  RankTimes done = begin + factors * work.si();
  const bool goes_on = taken.communications > 0 && work >= taken.work;
  bool are_over = goes_on || taken.communications == 0;
  if (goes_on) done += taken.time;
  for (std::size_t i = goes_on ? taken.communications : 0; i < communications.size(); ++i) {
    const RankTimes more = taken_by(communications[i], begin, done);
    done += more;
    are_over = are_over && i < known && (done >= communications[i].reduced).all();
    if (!are_over) continue;
    taken.time = i == 0 ? more : RankTimes(taken.time + more);
    taken.communications = i + 1;
    taken.work = work;
  }
  return done;
}

RankTimes DeviceShare::taken_by(const TaskTimes& times, const RankTimes& begin, const RankTimes& done) const {
  // Expressions, not arrays: all of it in one pass over the ranks.
  const auto start = times.reducing.max(begin);
  const auto slowed = (done - start).max(0) / (1 - share_);  // how long the rest takes beside this collective
  return share_ * slowed.min((times.reduced - start).max(0));
}

}  // namespace farandole
