#include <ostream>

#include "report/pages.hpp"

namespace farandole { inline namespace report {
namespace {

std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

void write_markdown_grid(std::ostream& out, const Grid& grid) {
  out << "**" << plain(grid.caption) << "**\n\n|";
  for (const Column& column : grid.columns) out << ' ' << plain(column.heading) << " |";
  out << "\n|";
  for (const Column& column : grid.columns) out << (column.align == Align::right ? "---:|" : "---|");
  out << '\n';
  for (const auto& row : grid.rows) {
    out << '|';
    for (const Cell& cell : row) out << ' ' << plain(cell.text) << " |";
    out << '\n';
  }
  out << '\n';
}

/// A fence longer than any run of backticks in the text.
std::string fence_for(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence;
}

void write_markdown_section(std::ostream& out, const PageSection& section) {
  if (section.grids.empty() && section.verbatim.empty() && section.text.empty() && section.link.empty()) return;
  out << "## " << plain(section.heading) << "\n\n";
  for (const std::string& text : section.text) out << plain(text) << "\n\n";
  for (const Grid& grid : section.grids) write_markdown_grid(out, grid);
  if (!section.link.empty()) out << plain(section.link) << "\n\n";
  if (section.verbatim.empty()) return;
  const std::string fence = fence_for(section.verbatim);
  out << fence << '\n' << section.verbatim << '\n' << fence << "\n\n";
}

}  // namespace

void write_markdown(std::ostream& out, const Page& page) {
  out << "# " << plain(page.kicker) << "\n\n";
  for (std::size_t i = 0; i < page.answer.size(); ++i) {
    const std::string text = plain(page.answer[i]);
    out << (i == 0 ? "**" + text + "**\n\n" : text + (i + 1 == page.answer.size() ? "\n\n" : " "));
  }
  for (const PageSection& section : page.sections) write_markdown_section(out, section);
}

}}  // namespace farandole::report
