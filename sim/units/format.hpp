// Prints quantities for people: "25 Gbit/s", "64 MiB", "12.5 ms". Machines get SI numbers (report/).
//
// What `format` prints, `parse_quantity` reads back to within the digits shown (four significant ones, or all where
// the number is whole).
//
// `format` prints settings, which may be typed in again. `decimal` prints results, where numbers stand beside one
// another and are compared: three digits, and sizes in powers of 1000 always, so that no table has "10395 KiB" beside
// "51.1 MB".
#pragma once

#include <string>

#include "units/quantity.hpp"

namespace farandole { inline namespace units {

std::string format(Bytes size);
std::string format(Seconds time);
/// In bits per second where that is a whole number of units ("25 Gbit/s"), else in bytes per second.
std::string format(BytesPerSecond rate);
std::string format(FlopPerSecond rate);

/// 11291124 KiB is "11.6 GB"; 16 GiB is "17.2 GB".
std::string decimal(Bytes size);
/// 312.5 ms is "312 ms".
std::string decimal(Seconds time);

}}  // namespace farandole::units
