// A text, line by line and word by word, with errors that say which line.
//
// For the readers of benchmark output, which is text for people: words between blanks, numbers among them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.hpp"
#include "units/quantity.hpp"

namespace farandole {

struct TextLine {
  int number = 0;  // from 1
  std::string_view text;
  std::vector<std::string_view> words;
};

/// All lines that are not blank.
std::vector<TextLine> lines_of(std::string_view text);

/// The number a word is, if it is one to its end and finite.
std::optional<double> number_in(std::string_view word);

/// The largest size anyone measures; what is above is a slip of the pen.
inline constexpr double most_bytes = 0x1p44;

/// The word as a size, whole and at most `most_bytes`; InputError with the line otherwise.
double size_at(const std::string& file, const TextLine& line, std::size_t word);

/// The word as a number that is not negative; InputError with the line otherwise. `what` is "a size in bytes", ...
double number_at(const std::string& file, const TextLine& line, std::size_t word, std::string_view what);

/// Nothing that anyone measures takes less or longer; fits and predictions stay finite.
inline constexpr double shortest_time = 1e-12;  // seconds
inline constexpr double longest_time = 1e8;
inline constexpr const char* measurable_time = "a time from 1 ps to 3 years";
inline bool is_measurable(double seconds) {
  return seconds >= shortest_time && seconds <= longest_time;
}

/// The word as a time in microseconds; InputError with the line otherwise.
Seconds time_at(const std::string& file, const TextLine& line, std::size_t word);

[[noreturn]] void refuse_line(const std::string& file, int line, std::string_view expected, std::string_view got);

/// The whole number after `label` in the line ("# #processes = 4"), if the label is there.
std::optional<int> number_after(std::string_view line, std::string_view label);

}  // namespace farandole
