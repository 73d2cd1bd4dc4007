#include <algorithm>
#include <array>
#include <numbers>

#include "study/search.hpp"

namespace farandole { inline namespace study {
namespace {

struct Seen {
  double x;
  double value;
};

}  // namespace

double golden_section(const std::function<double(double)>& f, double low, double high, double tolerance) {
  constexpr double share = 1 / std::numbers::phi;
  const auto see = [&](double x) { return Seen{x, f(x)}; };
  Seen first = see(low);
  Seen last = see(high);
  Seen left = see(high - share * (high - low));
  Seen right = see(low + share * (high - low));
  while (last.x - first.x > tolerance) {
    if (left.value <= right.value) {
      last = right;
      right = left;
      left = see(last.x - share * (last.x - first.x));
    } else {
      first = left;
      left = right;
      right = see(first.x + share * (last.x - first.x));
    }
  }
  const std::array seen{first, left, right, last};
  return std::ranges::min_element(seen, {}, &Seen::value)->x;
}

}}  // namespace farandole::study
