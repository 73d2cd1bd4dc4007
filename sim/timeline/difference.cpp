#include "timeline/difference.hpp"

#include <algorithm>
#include <cmath>

namespace farandole { inline namespace timeline {
namespace {

constexpr double most_sure = 0.95;  // the tails that published pairs show allow no more
/// Of Student's distribution with two degrees of freedom: within so many of its units lie eight in ten.
constexpr double eight_in_ten = 1.8856;

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

/// An estimate of one model's compute errs alike on both sides; what it does not is in what the two are compared by.
bool is_shared_estimate(const TrainingPoint& from, const TrainingPoint& to) {
  return from.model == to.model && from.compute_kind() == to.compute_kind() && !from.compared.empty() &&
         !to.compared.empty();
}

/// How probable it is that what is estimated as `gain`, with eight in ten between -width and width of it, is above 0.
double probability_of_gain(double gain, double width) {
  if (gain <= 0) return 0.5;
  const double units = width > 0 ? gain / width * eight_in_ten : HUGE_VAL;
  return std::min(most_sure, std::isinf(units) ? 1 : 0.5 + units / (2 * std::sqrt(2 + units * units)));
}

}  // namespace

ComparedSettings changed_between(const ComparedSettings& from, const ComparedSettings& to) {
  ComparedSettings changed;
  const auto add = [&](const ComparedSettings& all, const ComparedSettings& others) {
    for (const ComparedSetting& setting : all) {
      const auto other = std::ranges::find(others, setting.of, &ComparedSetting::of);
      const bool is_same = other != others.end() && other->value == setting.value;
      if (is_same || std::ranges::find(changed, setting.of, &ComparedSetting::of) != changed.end()) continue;
      changed.push_back(setting);
      if (other != others.end()) changed.back().apart = std::max(setting.apart, other->apart);
    }
  };
  add(from, to);
  add(to, from);
  std::ranges::sort(changed, {}, &ComparedSetting::of);
  return changed;
}

std::optional<Difference> difference(const TrainingPoint& from, const TrainingPoint& to) {
  if (!from.bands && !to.bands) return std::nullopt;
  const Bands certain;
  const Bands& before = from.bands ? *from.bands : certain;
  const Bands& after = to.bands ? *to.bands : certain;
  Squares squares;
  const double doublings = std::abs(std::log2(static_cast<double>(to.ranks) / from.ranks));
  for (const ComparedSetting& changed : changed_between(from.compared, to.compared)) {
    const double apart = changed.apart * (changed.of == "ranks" ? std::sqrt(std::max(1.0, doublings)) : 1);
    squares.add(-apart, apart);
  }
  const bool is_shared = is_shared_estimate(from, to);
  const auto is_judged = [&](const BandSource& source) {
    return source.of == of_published_runs || (is_shared && source.of == of_compute_time);
  };
  for (const BandSource& here : before.sources) {
    if (is_judged(here)) continue;
    const BandSource* there = counterpart(here, after);
    const Interval same = there != nullptr ? there->iteration : Interval{1, 1};
    squares.add(std::log(here.iteration.low / same.low), std::log(here.iteration.high / same.high));
  }
  for (const BandSource& there : after.sources) {
    if (is_judged(there) || counterpart(there, before) != nullptr) continue;
    squares.add(-std::log(there.iteration.low), -std::log(there.iteration.high));
  }
  const double gain = std::log(to.samples_per_second / from.samples_per_second);
  return Difference{std::max(before.probability, after.probability),
                    std::exp(gain),
                    {std::exp(gain + squares.low()), std::exp(gain + squares.high())},
                    probability_of_gain(std::abs(gain), gain > 0 ? -squares.low() : squares.high())};
}

}}  // namespace farandole::timeline
