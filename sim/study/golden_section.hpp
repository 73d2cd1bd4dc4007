// The least of a function of one number on an interval, by golden section.
//
// Used by study/search.hpp. Right for functions that fall and then rise (Kiefer, Proc. AMS 4, 1953); of others it finds
// a place that is no worse than what it has seen.
#pragma once

#include <functional>

namespace farandole {

/// Where the least value was seen, both ends included; stops when what is left is shorter than `tolerance`, above 0.
double golden_section(const std::function<double(double)>& f, double low, double high, double tolerance);

}  // namespace farandole
