#include "simulate/ring_recurrence.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace farandole {
namespace {

/// The ring unrolled: position u is rank (u - rounds) modulo n, so that whatever reaches a rank in so many rounds
/// stands before it, from position u - rounds on. Ranks themselves are the last n positions.
class UnrolledRing {
 public:
  UnrolledRing(const RankTimes& start, const TransferCosts& costs, int rounds) : rounds_(rounds) {
    const auto n = static_cast<int>(start.size());
    const auto before = [n](int rank) { return (rank + n - 1) % n; };
    std::vector<double> stays(static_cast<std::size_t>(n));
    for (int r = 0; r < n; ++r) {
      stays[static_cast<std::size_t>(r)] = std::max(costs.sending[r], costs.reducing[before(r)]);
    }
    most_ = *std::ranges::max_element(stays);
    int rank = (n - rounds % n) % n;
    for (int u = 0; u < n + rounds; ++u, rank = rank + 1 == n ? 0 : rank + 1) {
      const int from = before(rank);
      const double move = costs.sending[from] + costs.reducing[from];
      const double drift = positions_.empty() ? 0 : positions_.back().drift + (move - most_);
      positions_.push_back({start[rank], stays[static_cast<std::size_t>(rank)], move, drift});
    }
  }

  RankTimes finish() {
    RankTimes end(static_cast<Eigen::Index>(positions_.size()) - rounds_);
    for (int u = 0; u < static_cast<int>(positions_.size()); ++u) {
      if (at(u).stay == most_) let_in_up_to(u);
      while (head_ < best_.size() && best_[head_] < u - rounds_) ++head_;
      if (u >= rounds_) end[u - rounds_] = std::max(best_long_way(u), best_short_way(u));
    }
    return end;
  }

 private:
  struct Position {
    double start;
    double stay;
    double move;   // from the position before
    double drift;  // what the moves up to here cost more than as many stays at the most
  };

  [[nodiscard]] const Position& at(int u) const { return positions_[static_cast<std::size_t>(u)]; }
  [[nodiscard]] double head_start(int u) const { return at(u).start - at(u).drift; }

  /// From here on ways from these positions pass where staying costs most.
  void let_in_up_to(int u) {
    while (last_most_ < u) {
      const double start = head_start(++last_most_);
      while (best_.size() > head_ && head_start(best_.back()) <= start) best_.pop_back();
      best_.push_back(last_most_);
    }
  }

  [[nodiscard]] double best_long_way(int u) const {
    if (head_ == best_.size()) return -std::numeric_limits<double>::infinity();
    return head_start(best_[head_]) + at(u).drift + rounds_ * most_;
  }

  [[nodiscard]] double best_short_way(int u) const {
    double best = -std::numeric_limits<double>::infinity();
    double moved = 0;
    double stay = 0;
    for (int s = u; s > last_most_ && s >= u - rounds_; --s) {
      stay = std::max(stay, at(s).stay);
      best = std::max(best, at(s).start + moved + (rounds_ - (u - s)) * stay);
      moved += at(s).move;
    }
    return best;
  }

  int rounds_;
  double most_ = 0;
  std::vector<Position> positions_;
  int last_most_ = -1;     // the last position so far where staying costs most
  std::vector<int> best_;  // from head_ on: positions let in, later ones with smaller head starts
  std::size_t head_ = 0;
};

}  // namespace

RankTimes carry_ring(const RankTimes& start, const TransferCosts& costs, int rounds) {
  return UnrolledRing(start, costs, rounds).finish();
}

}  // namespace farandole
