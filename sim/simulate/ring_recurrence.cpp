#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "simulate/recurrence.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr double ring_rounding = 1e-14;

/// What the own message out and the one in, from the rank before, keep a rank's processor with in a round.
double rank_kept_busy(const TransferCosts& costs, Eigen::Index rank, Eigen::Index before) {
  return costs.are_occupied() ? costs.send[rank] + costs.receive[before] : 0;
}

/// What a step of a walk costs on a ring whose transfers wait for their receivers.
struct Steps {
  explicit Steps(const TransferCosts& costs) {
    const Eigen::Index n = costs.sending.size();
    back = costs.sending;
    move = costs.sending + costs.reducing;
    stay.resize(n);
    for (Eigen::Index r = 0; r < n; ++r) {
      const Eigen::Index before = r == 0 ? n - 1 : r - 1;
      stay[r] = std::max({back[r], move[before], rank_kept_busy(costs, r, before) + costs.reducing[before]});
    }
    most = stay.maxCoeff();
  }
  [[nodiscard]] bool is_free(Eigen::Index r) const { return stay[r] >= most * (1 - ring_rounding); }

  Eigen::ArrayXd move;  // by r: from r on to r + 1
  Eigen::ArrayXd back;  // by r: from r + 1 back to r
  Eigen::ArrayXd stay;
  double most = 0;
};

/// A walk to a rank: what it began with less what its steps cost less than the most, and how many of them move.
struct RingWalk {
  double value = -std::numeric_limits<double>::infinity();
  int steps = 0;
  [[nodiscard]] bool is_better_than(const RingWalk& other) const {
    return value != other.value ? value > other.value : steps < other.steps;
  }
};

/// The best walk to every rank that goes on from one of these, either way around.
std::vector<RingWalk> relaxed(const std::vector<RingWalk>& from, const Steps& steps) {
  const auto n = static_cast<Eigen::Index>(from.size());
  std::vector<RingWalk> best = from;
  const auto go = [&](Eigen::Index to, const RingWalk& before, double cost, std::vector<RingWalk>& walks) {
    const RingWalk next{before.value + (cost - steps.most), before.steps + 1};
    RingWalk& at = walks[static_cast<std::size_t>(to)];
    if (next.is_better_than(at)) at = next;
  };
  std::vector<RingWalk> backwards = from;
  for (Eigen::Index u = 0; u < 2 * n; ++u) {
    const Eigen::Index r = u % n;
    const Eigen::Index next = r + 1 == n ? 0 : r + 1;
    go(next, best[static_cast<std::size_t>(r)], steps.move[r], best);
    const Eigen::Index s = n - 1 - r;
    go(s, backwards[static_cast<std::size_t>(s + 1 == n ? 0 : s + 1)], steps.back[s], backwards);
  }
  for (std::size_t r = 0; r < best.size(); ++r) {
    if (backwards[r].is_better_than(best[r])) best[r] = backwards[r];
  }
  return best;
}

/// By walks past ranks where waiting is free; nothing where one would take more than all rounds, or another be better.
std::optional<RankTimes> best_walks(const RankTimes& start, const Steps& steps, int rounds) {
  std::vector<RingWalk> walks(static_cast<std::size_t>(start.size()));
  for (Eigen::Index r = 0; r < start.size(); ++r) walks[static_cast<std::size_t>(r)].value = start[r];
  walks = relaxed(walks, steps);
  double most_elsewhere = 0;
  for (Eigen::Index r = 0; r < start.size(); ++r) {
    if (steps.is_free(r)) continue;
    walks[static_cast<std::size_t>(r)] = {};
    most_elsewhere = std::max(most_elsewhere, steps.stay[r]);
  }
  walks = relaxed(walks, steps);
  RankTimes end(start.size());
  for (Eigen::Index r = 0; r < end.size(); ++r) {
    const RingWalk& walk = walks[static_cast<std::size_t>(r)];
    if (walk.steps > rounds) return std::nullopt;
    end[r] = walk.value + rounds * steps.most;
  }
  if (start.maxCoeff() + rounds * most_elsewhere > end.minCoeff()) return std::nullopt;
  return end;
}

/// The ring unrolled: position u is rank (u - rounds) modulo n, so that whatever reaches a rank in so many rounds
/// stands before it, from position u - rounds on. Ranks themselves are the last n positions. Lengthens `end` to the
/// best ways on which staying costs `most` at most, and at some rank that. `head_start` and `best`: room for all
/// positions.
void take_ways(const RankTimes& start, const RingSteps& steps, int rounds, double most, Eigen::ArrayXd& head_start,
               Eigen::ArrayXi& best, RankTimes& end) {
  const auto n = static_cast<int>(start.size());
  double drift = 0;         // what the moves up to a position cost more than as many stays
  int first = 0, last = 0;  // of the positions let in, with smaller head starts from one to the next
  int to_let_in = 0;
  for (int u = 0, rank = (n - rounds % n) % n; u < head_start.size(); ++u, rank = rank + 1 == n ? 0 : rank + 1) {
    drift += steps.move[rank] - most;
    head_start[u] = start[rank] - drift;
    const double stay = steps.stay[rank];
    if (stay > most) {
      first = last = 0;
      to_let_in = u + 1;
      continue;
    }
    for (; stay >= most * (1 - ring_rounding) && to_let_in <= u; ++to_let_in) {
      while (last > first && head_start[best[last - 1]] <= head_start[to_let_in]) --last;
      best[last++] = to_let_in;
    }
    while (first < last && best[first] + rounds < u) ++first;
    if (u >= rounds && first < last) end[rank] = std::max(end[rank], head_start[best[first]] + drift + rounds * most);
  }
}

}  // namespace

RankTimes carry_waiting_ring(const RankTimes& start, const TransferCosts& costs, int rounds) {
  const Steps steps(costs);
  if (auto end = best_walks(start, steps, rounds)) return *std::move(end);
  const Eigen::Index n = start.size();
  RankTimes moments = start;
  RankTimes next(n);
  for (int round = 0; round < rounds; ++round) {
    next = moments + steps.stay;
    next.head(n - 1) = next.head(n - 1).max(moments.tail(n - 1) + steps.back.head(n - 1));
    next.tail(n - 1) = next.tail(n - 1).max(moments.head(n - 1) + steps.move.head(n - 1));
    next[n - 1] = std::max(next[n - 1], moments[0] + steps.back[n - 1]);
    next[0] = std::max(next[0], moments[n - 1] + steps.move[n - 1]);
    moments.swap(next);
  }
  return moments;
}

RankTimes carry_ring(const RankTimes& start, const TransferCosts& costs, int rounds) {
  const Eigen::Index n = start.size();
  RingSteps steps{Eigen::ArrayXd(n), Eigen::ArrayXd(n)};
  for (Eigen::Index r = 0; r < n; ++r) {
    const Eigen::Index before = r == 0 ? n - 1 : r - 1;
    steps.move[r] = costs.sending[before] + costs.reducing[before];
    steps.stay[r] = std::max(costs.sending[r], rank_kept_busy(costs, r, before) + costs.reducing[before]);
  }
  return carry_ring(start, steps, rounds);
}

RankTimes carry_ring(const RankTimes& start, const RingSteps& steps, int rounds) {
  Eigen::ArrayXd head_start(start.size() + rounds);
  Eigen::ArrayXi best(head_start.size());
  std::vector<double> values(steps.stay.begin(), steps.stay.end());
  std::ranges::sort(values, std::ranges::greater());
  const auto is_the_same = [](double one, double next) { return next >= one * (1 - ring_rounding); };
  values.erase(std::unique(values.begin(), values.end(), is_the_same), values.end());
  RankTimes end = RankTimes::Constant(start.size(), -std::numeric_limits<double>::infinity());
  for (const double value : values) take_ways(start, steps, rounds, value, head_start, best, end);
  return end;
}

}}  // namespace farandole::simulate
