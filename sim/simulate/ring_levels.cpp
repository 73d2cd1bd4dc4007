#include <algorithm>
#include <limits>
#include <vector>

#include "simulate/recurrence.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr double rounding = 1e-14;

/// The ring unrolled: position u is rank (u - rounds) modulo n, so that whatever reaches a rank in so many rounds
/// stands before it, from position u - rounds on. Ranks themselves are the last n positions.
class Unrolled {
 public:
  Unrolled(const RankTimes& start, const RingSteps& steps, int rounds)
      : start_(start), steps_(steps), rounds_(rounds), size_(start.size() + rounds), head_start_(size_), best_(size_) {}

  /// Lengthens `end` to the best ways on which staying costs `most` at most, and at some rank that.
  void take_ways(double most, RankTimes& end) {
    const auto n = static_cast<int>(start_.size());
    double drift = 0;         // what the moves up to a position cost more than as many stays
    int first = 0, last = 0;  // of the positions let in, with smaller head starts from one to the next
    int to_let_in = 0;
    for (int u = 0, rank = (n - rounds_ % n) % n; u < size_; ++u, rank = rank + 1 == n ? 0 : rank + 1) {
      drift += steps_.move[rank] - most;
      head_start_[u] = start_[rank] - drift;
      const double stay = steps_.stay[rank];
      if (stay > most) {
        first = last = 0;
        to_let_in = u + 1;
        continue;
      }
      for (; stay >= most * (1 - rounding) && to_let_in <= u; ++to_let_in) {
        while (last > first && head_start_[best_[last - 1]] <= head_start_[to_let_in]) --last;
        best_[last++] = to_let_in;
      }
      while (first < last && best_[first] + rounds_ < u) ++first;
      if (u >= rounds_ && first < last)
        end[rank] = std::max(end[rank], head_start_[best_[first]] + drift + rounds_ * most);
    }
  }

 private:
  const RankTimes& start_;
  const RingSteps& steps_;
  int rounds_;
  Eigen::Index size_;
  Eigen::ArrayXd head_start_;
  Eigen::ArrayXi best_;
};

}  // namespace

RankTimes carry_ring(const RankTimes& start, const RingSteps& steps, int rounds) {
  Unrolled ring(start, steps, rounds);
  std::vector<double> values(steps.stay.begin(), steps.stay.end());
  std::ranges::sort(values, std::ranges::greater());
  const auto is_the_same = [](double one, double next) { return next >= one * (1 - rounding); };
  values.erase(std::unique(values.begin(), values.end(), is_the_same), values.end());
  RankTimes end = RankTimes::Constant(start.size(), -std::numeric_limits<double>::infinity());
  for (const double value : values) ring.take_ways(value, end);
  return end;
}

}}  // namespace farandole::simulate
