// std::from_chars of a double, which libc++ has from version 20 on only: of a general format, by C's strtod.
//
// Included before every file that is compiled for pages. Like the standard's: no white space and no "+" before the
// number, no hexadecimal digits, nothing changed where there is no number or one that no double holds.
#pragma once

#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

namespace std {

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* digits = first != last && *first == '-' ? first + 1 : first;
  const bool begins = digits != last && (*digits == '.' || (*digits >= '0' && *digits <= '9') || *digits == 'i' ||
                                         *digits == 'I' || *digits == 'n' || *digits == 'N');
  if (!begins) return {first, errc::invalid_argument};
  const bool is_hexadecimal = last - digits > 1 && *digits == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const string text(first, is_hexadecimal ? digits + 1 : last);
  char* end = nullptr;
  errno = 0;
  const double number = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* stop = first + (end - text.c_str());
  if (errno == ERANGE) return {stop, errc::result_out_of_range};
  value = number;
  return {stop, errc()};
}

}  // namespace std
#endif
