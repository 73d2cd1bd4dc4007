// Prints quantities for people: "25 Gbit/s", "64 MiB", "12.5 ms". Machines get SI numbers (report/).
//
// What `format` prints, `parse_quantity` reads back to within the digits shown (four significant ones, or all where
// the number is whole).
#pragma once

#include <string>

#include "units/quantity.hpp"

namespace farandole {

std::string format(Bytes size);
std::string format(Seconds time);
/// In bits per second where that is a whole number of units ("25 Gbit/s"), else in bytes per second.
std::string format(BytesPerSecond rate);
std::string format(FlopPerSecond rate);

}  // namespace farandole
