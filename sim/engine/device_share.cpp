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
  for (const TaskTimes& times : communications) {
    // Expressions, not arrays: all of it in one pass over the ranks.
    const auto start = times.reducing.max(begin);
    const auto slowed = (done - start).max(0) / (1 - share_);  // how long the rest takes beside this collective
    done += share_ * slowed.min((times.reduced - start).max(0));
  }
  return done;
}

}  // namespace farandole
