#include "config/error.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "config/text.hpp"

namespace farandole { inline namespace config {
namespace {

constexpr std::size_t longest_message = 1000;
constexpr std::size_t shown_of_its_end = 200;
constexpr std::size_t longest_pointer = 200;
constexpr std::size_t longest_quote = 60;
constexpr std::size_t most_names_listed = 12;

std::string worded(const Place& place, std::string_view expected, std::string_view got, std::string_view hint) {
  const std::string line = place.line > 0 ? fmt::format(":{}", place.line) : std::string();
  const std::string pointer = place.pointer.empty() ? "/" : one_line(place.pointer, longest_pointer);
  return fmt::format("{}{}: {}: expected {}, got {}{}", place.source, line, pointer, expected, got, hint);
}

/// What a message says last, what is wrong, is not lost behind a long name.
std::string shortened(std::string_view message) {
  if (message.size() <= longest_message) return one_line(message, longest_message);
  std::size_t begin = message.size() - shown_of_its_end;
  while (begin < message.size() && (static_cast<unsigned char>(message[begin]) & 0xC0U) == 0x80U) ++begin;
  return one_line(message.substr(0, begin), longest_message - 2 * shown_of_its_end) +
         one_line(message.substr(begin), longest_message);
}

/// Damerau-Levenshtein (optimal string alignment): insert, delete, replace, or swap two neighbours.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// The known name nearest to `name`, the first of equals; null where none is near enough.
const std::string* nearest(std::string_view name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  std::size_t fewest = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // Lengths this far apart cannot be near, and foreign names may be megabytes long.
    if (candidate.size() + fewest <= name.size() || name.size() + fewest <= candidate.size()) continue;
    if (name.size() > longest_message) continue;
    const std::size_t slips = distance(name, candidate);
    if (slips < fewest) {
      fewest = slips;
      best = &candidate;
    }
  }
  return best;
}

}  // namespace

InputError::InputError(const std::string& message) : std::runtime_error(shortened(message)) {}

InputError::InputError(const Place& place, std::string_view expected, std::string_view got, std::string_view hint)
    : InputError(worded(place, expected, got, hint)) {}

std::string suggestion(std::string_view name, const std::vector<std::string>& known) {
  if (known.empty()) return {};
  if (const std::string* near = nearest(name, known)) return fmt::format("; did you mean {}?", quoted(*near));
  std::string list;
  for (std::size_t i = 0; i < known.size() && i < most_names_listed; ++i) {
    list += (i == 0 ? "" : ", ") + one_line(known[i], longest_quote);
  }
  return fmt::format("; known: {}{}", list, known.size() > most_names_listed ? ", ..." : "");
}

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"", one_line(text, longest_quote));
}

}}  // namespace farandole::config
