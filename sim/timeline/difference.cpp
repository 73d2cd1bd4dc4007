#include "timeline/difference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace farandole { inline namespace timeline {
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

const BandSource* counterpart(const BandSource& source, const Bands& bands) {
  const auto is_same = [&](const BandSource& other) { return other.of == source.of && other.whose == source.whose; };
  const auto found = std::ranges::find_if(bands.sources, is_same);
  return found == bands.sources.end() ? nullptr : &*found;
}

}  // namespace

std::optional<Difference> difference(const TrainingPoint& from, const TrainingPoint& to) {
  if (!from.bands && !to.bands) return std::nullopt;
  const Bands certain;
  const Bands& before = from.bands ? *from.bands : certain;
  const Bands& after = to.bands ? *to.bands : certain;
  Squares squares;
  for (const BandSource& here : before.sources) {
    const BandSource* there = counterpart(here, after);
    if (there != nullptr && here.of == of_published_runs) {
      const double apart = std::max(before.same_job, after.same_job);
      squares.add(-apart, apart);
    } else {
      const Interval same = there != nullptr ? there->iteration : Interval{1, 1};
      squares.add(std::log(here.iteration.low / same.low), std::log(here.iteration.high / same.high));
    }
  }
  for (const BandSource& there : after.sources) {
    if (counterpart(there, before) != nullptr) continue;
    squares.add(-std::log(there.iteration.low), -std::log(there.iteration.high));
  }
  const double gain = std::log(to.samples_per_second / from.samples_per_second);
  const double against = gain > 0 ? -squares.low() : squares.high();
  // Of a normal distribution, how many deviations to where `probability` of it ends: 1.2816 for eight in ten.
  constexpr double eight_in_ten = 1.2816;
  const double deviations = against > 0 ? std::abs(gain) / against * eight_in_ten : HUGE_VAL;
  return Difference{std::max(before.probability, after.probability),
                    std::exp(gain),
                    {std::exp(gain + squares.low()), std::exp(gain + squares.high())},
                    gain == 0 ? 0.5 : 0.5 * std::erfc(-deviations / std::numbers::sqrt2)};
}

}}  // namespace farandole::timeline
