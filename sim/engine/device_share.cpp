#include "engine/device_share.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace farandole { inline namespace engine {
namespace {

using BeginEnd = std::pair<double, double>;

/// Of one rank, whatever the order and however many at once.
double finish_one(double begin, double done, double share, std::vector<BeginEnd>& communicating) {
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

/// One rank after the other.
struct Ranks {
  Eigen::Index count;
  const double* begin;
  double* done;
};

/// When they would be done were there no communication.
FARANDOLE_WIDE void compute_alone(const Ranks& ranks, const double* factors, double work) {
  for (Eigen::Index r = 0; r < ranks.count; ++r) ranks.done[r] = ranks.begin[r] + factors[r] * work;
}

/// What would be done at `done` without one communication, with it.
FARANDOLE_WIDE void take(double share, const double* from, const double* to, const Ranks& ranks) {
  const double slowdown = 1 / (1 - share);  // of what is computed beside this collective
  for (Eigen::Index r = 0; r < ranks.count; ++r) {
    const double start = std::max(from[r], ranks.begin[r]);
    const double rest = std::max(ranks.done[r] - start, 0.0);
    ranks.done[r] += share * std::min(rest * slowdown, std::max(to[r] - start, 0.0));
  }
}

}  // namespace

Occupation occupation(const RankTimes& from, const RankTimes& to) {
  return {earliest(from), latest(to), from, to};
}

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& factors, Seconds work,
                              std::span<const Occupation> communications, const Settled& settled) const {
  RankTimes done(begin.size());
  const Ranks ranks{begin.size(), begin.data(), done.data()};
  compute_alone(ranks, factors.data(), work.si());
  if (share_ == 0 || communications.empty()) return done;
  const Seconds from = earliest(begin);
  if (several_at_once_) {
    const Seconds to((begin + factors * (work.si() / (1 - share_))).maxCoeff());  // were there no moment without
    return finish_beside_several(begin, std::move(done), from, to, communications);
  }
  if (settled.communications > 0) done += settled.delay;
  // They end in order: those before the first that ends behind the begin take nothing.
  auto own = std::ranges::partition_point(communications.subspan(settled.communications),
                                          [&](const Occupation& one) { return one.last <= from; });
  for (Seconds last = latest(done); own != communications.end(); ++own) {
    if (own->first >= last) last = latest(done);  // what was taken has put it off
    if (own->first >= last) break;
    take(share_, own->from.data(), own->to.data(), ranks);
  }
  return done;
}

void DeviceShare::settle(Settled& settled, const RankTimes& begin, const RankTimes& so_far,
                         std::span<const Occupation> communications) const {
  if (several_at_once_) return;
  const Seconds passed = earliest(so_far);
  for (; settled.communications < communications.size(); ++settled.communications) {
    const Occupation& own = communications[settled.communications];
    if (own.last >= passed) return;  // one that is under way lasts until now
    if (settled.communications == 0) settled.delay = RankTimes::Zero(begin.size());
    settled.delay += share_ * (own.to - own.from.max(begin)).max(0);
  }
}

RankTimes DeviceShare::finish_beside_several(const RankTimes& begin, RankTimes done, Seconds from, Seconds to,
                                             std::span<const Occupation> communications) const {
  std::vector<const Occupation*> beside;
  for (const Occupation& own : communications) {
    if (own.last > from && own.first < to) beside.push_back(&own);
  }
  std::vector<BeginEnd> own;
  for (Eigen::Index rank = 0; rank < done.size(); ++rank) {
    own.clear();
    for (const Occupation* other : beside) own.emplace_back(other->from[rank], other->to[rank]);
    done[rank] = finish_one(begin[rank], done[rank], share_, own);
  }
  return done;
}

}}  // namespace farandole::engine
