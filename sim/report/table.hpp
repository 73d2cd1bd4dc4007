// A table of aligned text columns, and numbers as people read them.
//
// Used by the writers of this room. Cells are UTF-8; widths count code points. Numbers are aligned to the right, names
// to the left; columns stand two spaces apart and lines have no trailing spaces.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace farandole { inline namespace report {

enum class Align { left, right };

struct Column {
  std::string heading;
  Align align = Align::right;
};

/// And to the right of these, columns of figures.
std::vector<Column> with_figures(std::vector<Column> columns, const std::vector<std::string>& headings);

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column (std::logic_error otherwise), `more` to the right; an empty cell is shown as "-".
  void row(std::vector<std::string> cells, const std::vector<std::string>& more = {});
  void write(std::ostream& out) const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

inline constexpr double milliseconds_per_second = 1e3;

/// 1234567.891 with 1 decimal is "1,234,567.9"; a number that rounds to zero has no sign.
std::string grouped(double number, int decimals);

/// "1 rank", "4,096 ranks".
std::string ranks_text(int ranks);

/// "a, b and c".
std::string listed(const std::vector<std::string>& texts);

/// 0.0123 is "1.2 %".
std::string percent_with_decimal(double fraction);

/// 0.0123 is "+1.2 %" with 1 decimal; always with a sign, but for zero.
std::string signed_percent(double fraction, int decimals);

/// The text with every control character replaced, so that a name from outside cannot break a line or steer a terminal.
std::string printable(std::string_view text);
/// The same for a text of several lines, which stay lines.
std::string printable_lines(std::string_view text);

// Bold, faint and red on a terminal, and nowhere else: what goes into a file or a pipe is text alone.
//
// The program asks for styles once, for its standard output; tables and headings ask the stream they write to. Without
// styles a text is written as it is. NO_COLOR (no-color.org) and a terminal without styles (TERM=dumb) are respected.

/// As ECMA-48 numbers them, "select graphic rendition".
enum class Style { bold = 1, faint = 2, red = 31 };

/// Whether standard output is a terminal that shows styles, and the user has nothing against them.
bool terminal_takes_styles();

void use_styles(std::ostream& out);

/// The text as this stream shows it in that style.
std::string styled(std::ostream& out, Style style, std::string_view text);

}}  // namespace farandole::report
