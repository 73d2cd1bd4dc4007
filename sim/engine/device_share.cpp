#include "engine/device_share.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace farandole::inline engine {
namespace {

using Span = std::pair<double, double>;

/// Of one rank, whatever the order and however many at once.
double finish_one(double begin, double done, double share, std::vector<Span>& communicating) {
  std::ranges::sort(communicating);
  double covered = begin;
  for (const auto& [from, to] : communicating) {
    const double start = std::max(from, covered);
    if (start >= done) break;
    done += share * std::max(0.0, std::min((done - start) / (1 - share), to - start));
    covered = std::max(covered, to);
  }
  return done;
}

/// What one communication takes, `more`, from what would be done at `done` without it.
void take(double share, const Occupation& own, const RankTimes& begin, const RankTimes& done, RankTimes& more) {
  // Expressions, not arrays: all of it in one pass over the ranks.
  const auto start = own.from.max(begin);
  const auto slowed = (done - start).max(0) / (1 - share);  // how long the rest takes beside this collective
  more = share * slowed.min((own.to - start).max(0));
}

}  // namespace

Occupation occupation(const RankTimes& from, const RankTimes& to) {
  return {from, to, earliest(from), latest(to)};
}

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& work,
                              std::span<const Occupation> communications) const {
  Taken nothing;
  return finish(begin, work, Seconds(1), communications, communications.size(), nothing);
}

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& factors, Seconds work,
                              std::span<const Occupation> communications, std::size_t known, Taken& taken) const {
  RankTimes done = begin + factors * work.si();  // were nothing more to come
  if (share_ == 0 || communications.empty()) return done;
  const bool goes_on = !several_at_once_ && taken.communications > 0 && work >= taken.work;
  if (goes_on && taken.time.size() > 0) done += taken.time;
  if (goes_on && taken.communications == communications.size()) return done;
  const Seconds from = earliest(begin);
  if (several_at_once_) {
    const Seconds to((begin + factors * (work.si() / (1 - share_))).maxCoeff());  // were there no moment without
    return finish_beside_several(begin, std::move(done), from, to, communications);
  }
  Seconds last = latest(done);
  RankTimes more(done.size());  // one for all: a job asks for a mark of every gradient
  bool are_over = goes_on || taken.communications == 0;
  for (std::size_t i = goes_on ? taken.communications : 0; i < communications.size(); ++i) {
    const Occupation& own = communications[i];
    if (own.first >= last) break;  // takes nothing from anybody, and neither do those behind it
    const bool is_beside = own.last > from;
    if (is_beside) take(share_, own, begin, done, more);
    if (is_beside) done += more;
    if (is_beside) last = latest(done);
    are_over = are_over && i < known && (!is_beside || own.last <= last) && (!is_beside || (done >= own.to).all());
    if (!are_over) continue;
    if (is_beside) {
      const bool is_first = taken.time.size() == 0 || taken.communications == 0;
      is_first ? taken.time = more : taken.time += more;
    }
    taken.communications = i + 1;
    taken.work = work;
  }
  return done;
}

RankTimes DeviceShare::finish_beside_several(const RankTimes& begin, RankTimes done, Seconds from, Seconds to,
                                             std::span<const Occupation> communications) const {
  std::vector<const Occupation*> beside;
  for (const Occupation& own : communications) {
    if (own.last > from && own.first < to) beside.push_back(&own);
  }
  std::vector<Span> own;
  for (Eigen::Index rank = 0; rank < done.size(); ++rank) {
    own.clear();
    for (const Occupation* other : beside) own.emplace_back(other->from[rank], other->to[rank]);
    done[rank] = finish_one(begin[rank], done[rank], share_, own);
  }
  return done;
}

}  // namespace farandole::inline engine
