#include "likelihood.hpp"

#include <cmath>

namespace farandole {
namespace {

constexpr double freedom = 5;

/// Sums over the ratios, for the inverse of a diagonal plus one outer product (Sherman and Morrison, 1950).
struct Sums {
  double squares = 0;   // of r^2 / own^2
  double together = 0;  // of shared r / own^2
  double weights = 0;   // of shared^2 / own^2
  explicit Sums(const std::vector<MeasuredRatio>& ratios) {
    for (const MeasuredRatio& ratio : ratios) {
      const double weight = 1 / (ratio.own * ratio.own);
      squares += ratio.logarithm * ratio.logarithm * weight;
      together += ratio.shared * ratio.logarithm * weight;
      weights += ratio.shared * ratio.shared * weight;
    }
  }
};

double quadratic_form(const std::vector<MeasuredRatio>& ratios) {
  const Sums sums(ratios);
  return sums.squares - sums.together * sums.together / (1 + sums.weights);
}

}  // namespace

double log_likelihood(const std::vector<MeasuredRatio>& ratios) {
  const auto count = static_cast<double>(ratios.size());
  return -(freedom + count) / 2 * std::log1p(quadratic_form(ratios) / freedom);
}

double scale_of_next(const std::vector<MeasuredRatio>& known, const MeasuredRatio& next) {
  return std::sqrt(next.own * next.own + next.shared * next.shared / (1 + Sums(known).weights));
}

double misfit(const std::vector<MeasuredRatio>& ratios) {
  return quadratic_form(ratios) / static_cast<double>(ratios.size());
}

}  // namespace farandole
