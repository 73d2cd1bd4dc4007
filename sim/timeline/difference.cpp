#include "timeline/difference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace farandole::inline timeline {
namespace {

/// Ends of a logarithm that is 0 where nothing is uncertain.
class Squares {
 public:
  void add(double one_end, double other_end) {
    low_ = std::hypot(low_, std::min({0.0, one_end, other_end}));
    high_ = std::hypot(high_, std::max({0.0, one_end, other_end}));
  }
  [[nodiscard]] double low() const { return -low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  double low_ = 0;
  double high_ = 0;
};

bool is_one_machine(const TrainingPoint& a, const TrainingPoint& b) {
  return a.platform == b.platform;
}

/// An estimate for a device is as wrong for one batch as for another.
bool is_one_compute(const TrainingPoint& a, const TrainingPoint& b) {
  return is_one_machine(a, b) && a.model == b.model && a.variant == b.variant && a.precision == b.precision &&
         a.compute_kind() == b.compute_kind();
}

bool is_one_job(const TrainingPoint& a, const TrainingPoint& b) {
  return is_one_machine(a, b) && a.model == b.model && a.strategy == b.strategy;
}

bool is_shared(const BandSource& source, const TrainingPoint& a, const TrainingPoint& b) {
  return source.of == of_compute_time ? is_one_compute(a, b) : is_one_machine(a, b);
}

const BandSource* counterpart(const BandSource& source, const Bands& bands) {
  const auto is_same = [&](const BandSource& other) {
    return other.of == source.of && other.between == source.between;
  };
  const auto found = std::ranges::find_if(bands.sources, is_same);
  return found == bands.sources.end() ? nullptr : &*found;
}

void add_own_errors(Squares& squares, const TrainingPoint& from, const TrainingPoint& to) {
  if (is_one_job(from, to)) {
    const double apart = std::max(from.bands->same_job, to.bands->same_job);
    return squares.add(-apart, apart);
  }
  for (const TrainingPoint* point : {&from, &to}) {
    const double sign = point == &to ? -1 : 1;
    for (const BandSource& source : point->bands->sources) {
      if (source.of != of_published_runs) continue;
      squares.add(sign * std::log(source.iteration.low), sign * std::log(source.iteration.high));
    }
  }
}

/// What is uncertain of `one`, with the same of `other` where both share it. `sign`: of one's step in the logarithm.
void add_sources(Squares& squares, const TrainingPoint& one, const TrainingPoint& other, double sign,
                 bool with_shared) {
  for (const BandSource& source : one.bands->sources) {
    if (source.of == of_published_runs) continue;
    const BandSource* there = is_shared(source, one, other) ? counterpart(source, *other.bands) : nullptr;
    if (there != nullptr && !with_shared) continue;
    const Interval same = there != nullptr ? there->iteration : Interval{1, 1};
    squares.add(sign * std::log(source.iteration.low / same.low), sign * std::log(source.iteration.high / same.high));
  }
}

}  // namespace

std::optional<Difference> difference(const TrainingPoint& from, const TrainingPoint& to) {
  if (!from.bands || !to.bands) return std::nullopt;
  Squares squares;
  add_own_errors(squares, from, to);
  add_sources(squares, from, to, 1, true);
  add_sources(squares, to, from, -1, false);
  const double gain = std::log(to.samples_per_second / from.samples_per_second);
  const double against = gain > 0 ? -squares.low() : squares.high();
  // Of a normal distribution, how many deviations to where `probability` of it ends: 1.2816 for eight in ten.
  constexpr double eight_in_ten = 1.2816;
  const double deviations = against > 0 ? std::abs(gain) / against * eight_in_ten : HUGE_VAL;
  return Difference{to.bands->probability,
                    std::exp(gain),
                    {std::exp(gain + squares.low()), std::exp(gain + squares.high())},
                    gain == 0 ? 0.5 : 0.5 * std::erfc(-deviations / std::numbers::sqrt2)};
}

}  // namespace farandole::inline timeline
