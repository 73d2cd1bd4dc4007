#include "report/table.hpp"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "units/mapped.hpp"

namespace farandole { inline namespace report {
namespace {

std::size_t width(std::string_view text) {
  const auto starts_code_point = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point));
}

std::string without_sign_of_zero(std::string number) {
  const bool zero = number.find_first_of("123456789") == std::string::npos;
  if (zero && (number.front() == '-' || number.front() == '+')) number.erase(0, 1);
  return number;
}

std::string line_of(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                    const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string padding(widths[i] - width(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

int mark_of_styles() {
  static const int index = std::ios_base::xalloc();
  return index;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::vector<Column> with_figures(std::vector<Column> columns, const std::vector<std::string>& headings) {
  for (const std::string& heading : headings) columns.push_back({heading});
  return columns;
}

void Table::row(std::vector<std::string> cells, const std::vector<std::string>& more) {
  cells.insert(cells.end(), more.begin(), more.end());
  if (cells.size() != columns_.size()) throw std::logic_error("a table row needs one cell per column");
  for (std::string& cell : cells) cell = cell.empty() ? "-" : printable(cell);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = width(columns_[i].heading);
    for (const auto& row : rows_) widest = std::max(widest, width(row[i]));
    result.push_back(widest);
  }
  return result;
}

void Table::write(std::ostream& out) const {
  const auto column_widths = widths();
  const auto headings = mapped(columns_, &Column::heading);
  out << styled(out, Style::bold, line_of(columns_, column_widths, headings)) << '\n';
  for (const auto& row : rows_) out << line_of(columns_, column_widths, row) << '\n';
}

std::string ranks_text(int ranks) {
  return grouped(ranks, 0) + (ranks == 1 ? " rank" : " ranks");
}

std::string listed(const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const bool is_last = i + 1 == texts.size();
    all += (i == 0 ? "" : is_last ? " and " : ", ") + texts[i];
  }
  return all;
}

std::string grouped(double number, int decimals) {
  std::string text = without_sign_of_zero(fmt::format("{:.{}f}", number, decimals));
  const std::size_t first_digit = text.front() == '-' ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  for (std::size_t at = point; at > first_digit + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string percent_with_decimal(double fraction) {
  return fmt::format("{:.1f} %", 100 * fraction);
}

std::string signed_percent(double fraction, int decimals) {
  return without_sign_of_zero(fmt::format("{:+.{}f}", fraction * 100, decimals)) + " %";
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which terminals obey as they do the old ones, have two bytes.
    const bool is_c1 = byte == 0xC2U && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0U;
    const bool is_control = byte < 0x20U || byte == 0x7FU || is_c1;
    result += is_control ? '?' : text[i];
    i += is_c1 ? 1 : 0;
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    result += printable(text.substr(0, end)) + '\n';
    text.remove_prefix(end + 1);
  }
  return result + printable(text);
}

bool terminal_takes_styles() {
  // A launcher may hold a terminal to each of its processes, and its own output in a pipe.
  const bool is_launched = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK") || is_set("PMI_RANK");
  if (::isatty(STDOUT_FILENO) == 0 || is_launched || is_set("NO_COLOR") || !is_set("TERM")) return false;
  return std::string_view(std::getenv("TERM")) != "dumb";
}

void use_styles(std::ostream& out) {
  out.iword(mark_of_styles()) = 1;
}

std::string styled(std::ostream& out, Style style, std::string_view text) {
  if (out.iword(mark_of_styles()) == 0) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", static_cast<int>(style), text);
}

}}  // namespace farandole::report
