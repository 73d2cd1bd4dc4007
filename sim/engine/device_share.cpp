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
  double* more;
};

/// When they would be done were there no communication.
FARANDOLE_WIDE void compute_alone(const Ranks& ranks, const double* factors, double work) {
  for (Eigen::Index r = 0; r < ranks.count; ++r) ranks.done[r] = ranks.begin[r] + factors[r] * work;
}

/// What one communication takes, `more`, from what would be done at `done` without it, and when it is done with it.
FARANDOLE_WIDE void take(double share, const double* from, const double* to, const Ranks& ranks) {
  const double slowdown = 1 / (1 - share);  // of what is computed beside this collective
  for (Eigen::Index r = 0; r < ranks.count; ++r) {
    const double start = std::max(from[r], ranks.begin[r]);
    const double rest = std::max(ranks.done[r] - start, 0.0);
    const double more = share * std::min(rest * slowdown, std::max(to[r] - start, 0.0));
    ranks.more[r] = more;
    ranks.done[r] += more;
  }
}

FARANDOLE_WIDE bool are_all_done(const RankTimes& done, const RankTimes& to) {
  const double* const ends = done.data();
  const double* const others = to.data();
  int before = 0;
  for (Eigen::Index r = 0; r < done.size(); ++r) before |= static_cast<int>(ends[r] < others[r]);
  return before == 0;
}

/// For what is taken from so many ranks, used again and again: a job asks for marks of all gradients.
double* room_for(Eigen::Index ranks) {
  thread_local std::vector<double> room;
  if (std::ssize(room) < ranks) room.resize(static_cast<std::size_t>(ranks));
  return room.data();
}

}  // namespace

Occupation occupation(const RankTimes& from, const RankTimes& to) {
  return {earliest(from), latest(to), from, to};
}

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& factors, Seconds work,
                              std::span<const Occupation> communications, std::size_t known, Taken& taken) const {
  RankTimes done(begin.size());
  const Ranks ranks{begin.size(), begin.data(), done.data(), room_for(begin.size())};
  compute_alone(ranks, factors.data(), work.si());
  if (share_ == 0 || communications.empty()) return done;
  const bool goes_on = !several_at_once_ && taken.communications > 0 && work >= taken.work;
  if (goes_on) done += taken.time;
  if (goes_on && taken.communications == communications.size()) return done;
  const Seconds from = earliest(begin);
  if (several_at_once_) {
    const Seconds to((begin + factors * (work.si() / (1 - share_))).maxCoeff());  // were there no moment without
    return finish_beside_several(begin, std::move(done), from, to, communications);
  }
  Seconds last = latest(done);
  bool are_over = goes_on || taken.communications == 0;
  const auto rest = communications.subspan(goes_on ? taken.communications : 0);
  // They end in order: those before the first that ends behind the begin take nothing.
  const auto beside = std::ranges::partition_point(rest, [&](const Occupation& own) { return own.last <= from; });
  for (std::size_t i = communications.size() - static_cast<std::size_t>(rest.end() - beside); i < communications.size();
       ++i) {
    const Occupation& own = communications[i];
    if (own.first >= last) break;  // takes nothing from anybody, and neither do those behind it
    take(share_, own.from.data(), own.to.data(), ranks);
    last = latest(done);
    are_over = are_over && i < known && own.last <= last && are_all_done(done, own.to);
    if (!are_over) continue;
    if (taken.time.size() == 0) taken.time = RankTimes::Zero(ranks.count);
    taken.time += Eigen::Map<const RankTimes>(ranks.more, ranks.count);
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
  std::vector<BeginEnd> own;
  for (Eigen::Index rank = 0; rank < done.size(); ++rank) {
    own.clear();
    for (const Occupation* other : beside) own.emplace_back(other->from[rank], other->to[rank]);
    done[rank] = finish_one(begin[rank], done[rank], share_, own);
  }
  return done;
}

}}  // namespace farandole::engine
