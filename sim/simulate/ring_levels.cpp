#include <algorithm>
#include <limits>
#include <vector>

#include "simulate/recurrence.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr double rounding = 1e-14;

/// The ring unrolled: position u is rank (u - rounds) modulo n, so that whatever reaches a rank in so many rounds
/// stands before it, from position u - rounds on. Ranks themselves are the last n positions.
struct Positions {
  std::vector<double> start;
  std::vector<double> stay;
  std::vector<double> move;

  Positions(const RankTimes& of_ranks, const RingSteps& steps, int rounds) {
    const auto n = static_cast<int>(of_ranks.size());
    int rank = (n - rounds % n) % n;
    for (int u = 0; u < n + rounds; ++u, rank = rank + 1 == n ? 0 : rank + 1) {
      start.push_back(of_ranks[rank]);
      stay.push_back(steps.stay[rank]);
      move.push_back(steps.move[rank]);
    }
  }
};

/// Ways on which staying costs a given value at most, and at some rank that.
class Level {
 public:
  Level(const Positions& positions, double stay, int rounds) : positions_(positions), stay_(stay), rounds_(rounds) {
    double drift = 0;
    for (const double move : positions.move) drift_.push_back(drift += move - stay);
  }

  /// The best way to the next position: minus infinity where there is none.
  double best_to(std::size_t u) {
    if (positions_.stay[u] > stay_) {
      best_.clear();
      head_ = 0;
      next_ = u + 1;
      return none;
    }
    if (positions_.stay[u] >= stay_ * (1 - rounding)) {
      for (; next_ <= u; ++next_) let_in(next_);
    }
    while (head_ < best_.size() && best_[head_] + static_cast<std::size_t>(rounds_) < u) ++head_;
    return head_ == best_.size() ? none : head_start(best_[head_]) + drift_[u] + rounds_ * stay_;
  }

 private:
  static constexpr double none = -std::numeric_limits<double>::infinity();

  [[nodiscard]] double head_start(std::size_t u) const { return positions_.start[u] - drift_[u]; }
  void let_in(std::size_t u) {
    while (best_.size() > head_ && head_start(best_.back()) <= head_start(u)) best_.pop_back();
    best_.push_back(u);
  }

  const Positions& positions_;
  double stay_;
  int rounds_;
  std::vector<double> drift_;      // what the moves up to a position cost more than as many stays
  std::vector<std::size_t> best_;  // from head_ on: positions let in, later ones with smaller head starts
  std::size_t head_ = 0;
  std::size_t next_ = 0;  // position to be let in
};

}  // namespace

RankTimes carry_ring(const RankTimes& start, const RingSteps& steps, int rounds) {
  const Positions positions(start, steps, rounds);
  std::vector<double> values(steps.stay.begin(), steps.stay.end());
  std::ranges::sort(values, std::ranges::greater());
  const auto is_the_same = [](double one, double next) { return next >= one * (1 - rounding); };
  values.erase(std::unique(values.begin(), values.end(), is_the_same), values.end());
  RankTimes end = RankTimes::Constant(start.size(), -std::numeric_limits<double>::infinity());
  for (const double value : values) {
    Level level(positions, value, rounds);
    for (std::size_t u = 0; u < positions.start.size(); ++u) {
      const double best = level.best_to(u);
      const auto rank = static_cast<Eigen::Index>(u) - rounds;
      if (rank >= 0) end[rank] = std::max(end[rank], best);
    }
  }
  return end;
}

}}  // namespace farandole::simulate
