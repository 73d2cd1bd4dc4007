// The one error for bad input, and the wording every message follows.
//
//   FILE:LINE: /json/pointer: expected WHAT, got WHAT; did you mean "NAME"?
//
// Thrown while input is read and nowhere else; the command line prints it on one line and exits with 2.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace farandole { inline namespace config {

/// Where a value came from. `line` is 0 where the source has no lines (a command-line argument).
struct Place {
  std::string source;
  int line = 0;
  std::string pointer;
};

class InputError : public std::runtime_error {
 public:
  /// Control characters in `message` are escaped: a message is one line, whatever the input holds.
  explicit InputError(const std::string& message);
  InputError(const Place& place, std::string_view expected, std::string_view got, std::string_view hint = {});
};

/// "; did you mean \"resnet50\"?" where a known name is near enough to be a slip of the hand, else
/// "; known: a, b, c". Distance is Damerau-Levenshtein, at most a third of the name's length (and at least 1).
std::string suggestion(std::string_view name, const std::vector<std::string>& known);

/// A text from outside, made fit for one line of a terminal: control characters escaped, cut at 60 characters, quoted.
std::string quoted(std::string_view text);
/// These only keep std::quoted out, which <iomanip> would otherwise offer for a std::string.
inline std::string quoted(const char* text) {
  return quoted(std::string_view(text));
}
inline std::string quoted(const std::string& text) {
  return quoted(std::string_view(text));
}
inline std::string quoted(std::string& text) {
  return quoted(std::string_view(text));
}

}}  // namespace farandole::config
