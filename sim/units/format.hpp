// Prints and reads quantities.
//
// For people: "25 Gbit/s", "64 MiB", "12.5 ms". Machines get SI numbers (report/).
//
// What `format` prints, `parse_quantity` reads back to within the digits shown (four significant ones, or all where
// the number is whole).
//
// `format` prints settings, which may be typed in again. `decimal` prints results, where numbers stand beside one
// another and are compared: three digits, and sizes in powers of 1000 always, so that no table has "10395 KiB" beside
// "51.1 MB".
#pragma once

#include <string>
#include <string_view>
#include <variant>

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

// Reads dimensioned text: "25 Gbit/s", "2 us", "64 MiB", "9.3 TFLOP/s", "10 %".
//
// Called for every dimensioned value of every input file, whatever its form, and by the command line. A number must be
// finite, not negative, in SI units zero or from 1e-18 to 1e30, followed by a unit of the asked dimension, and nothing
// else. Decimal prefixes k M G T P are powers of 1000, Ki Mi Gi Ti of 1024; "bit" is an eighth of a byte. A reader that
// fails returns the reason; it never throws.

/// Why a text is not the quantity asked for: what a right one looks like, and what this one is.
struct UnitMismatch {
  std::string expected;
  std::string got;
};

template <class T>
using Parsed = std::variant<T, UnitMismatch>;

/// `T` is Bytes, Seconds, BytesPerSecond, Flop or FlopPerSecond.
template <class T>
Parsed<T> parse_quantity(std::string_view text);

/// "10 %" gives 0.1; a percent sign is required.
Parsed<double> parse_fraction(std::string_view text);

/// A size as nccl-tests reads it: "8", "64K", "128M", "1G", powers of 1024, a bare number is bytes.
Parsed<Bytes> parse_size(std::string_view text);

}}  // namespace farandole::units
