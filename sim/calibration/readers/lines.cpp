#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "calibration/readers/readers.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view line_blanks = " \t\r\v\f";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto begin = line.find_first_not_of(line_blanks); begin != std::string_view::npos;) {
    const auto end = std::min(line.find_first_of(line_blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(line_blanks, end);
  }
  return words;
}

}  // namespace

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  int number = 0;
  const std::string_view host = host_label(text);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_labels(text.substr(0, end), host);
    ++number;
    auto words = words_of(line);
    if (!words.empty()) lines.push_back({number, line, std::move(words)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (const char c : line) {
    if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) {
    cell.erase(cell.find_last_not_of(line_blanks) + 1);
    cell.erase(0, cell.find_first_not_of(line_blanks));
  }
  return cells;
}

std::optional<double> number_in(std::string_view word) {
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

double number_at(const std::string& file, const TextLine& line, std::size_t word, std::string_view what) {
  if (word >= line.words.size()) refuse_line(file, line.number, what, "the end of the line");
  const auto number = number_in(line.words[word]);
  if (!number || *number < 0) refuse_line(file, line.number, what, quoted(line.words[word]));
  return *number;
}

Seconds time_at(const std::string& file, const TextLine& line, std::size_t word, double unit) {
  const double seconds = number_at(file, line, word, unit < 1e-4 ? "a time in microseconds" : "a time in ms") * unit;
  if (!is_measurable(seconds)) refuse_line(file, line.number, measurable_time, quoted(line.words[word]));
  return Seconds(seconds);
}

double size_at(const std::string& file, const TextLine& line, std::size_t word) {
  const double bytes = number_at(file, line, word, "a size in bytes");
  if (bytes > most_bytes || bytes != std::floor(bytes))
    refuse_line(file, line.number, "a whole number of bytes up to 16 TiB", quoted(line.words[word]));
  return bytes;
}

void refuse_line(const std::string& file, int line, std::string_view expected, std::string_view got) {
  throw InputError(fmt::format("{}:{}: expected {}, got {}", file, line, expected, got));
}

std::optional<int> number_after(std::string_view line, std::string_view label) {
  const auto at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  const auto words = words_of(line.substr(at + label.size()));
  if (words.empty()) return std::nullopt;
  constexpr double most = 1e9;
  const auto number = number_in(words.front());
  if (!number || *number < 0 || *number > most || *number != std::floor(*number)) return std::nullopt;
  return static_cast<int>(*number);
}

}}  // namespace farandole::calibration
