#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/page/assets.hpp"
#include "report/pages.hpp"
#include "report/version.hpp"

namespace farandole::inline report {
namespace {

constexpr std::string_view head =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

/// A browser runs the page's own two scripts, known by their digests, and no other, and fetches nothing.
std::string policy() {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {} {}; style-src "
      "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
      script_source(d3_digest()), script_source(page_script_digest()));
}

/// For people: a number and its percent sign stay on one line.
std::string prose(const std::string& text) {
  std::string result = escaped(text);
  for (auto at = result.find(" %"); at != std::string::npos; at = result.find(" %", at)) {
    result.replace(at, 1, "&nbsp;");
  }
  return result;
}

void write_paragraphs(std::ostream& out, const std::vector<std::string>& paragraphs) {
  for (const std::string& text : paragraphs) out << "<p>" << prose(text) << "</p>\n";
}

void write_chart(std::ostream& out, const PageSection& section, const Chart& chart) {
  out << fmt::format("<figure id=\"{}-{}\" data-chart=\"{}\" data-key=\"{}\">\n<figcaption>{}</figcaption>\n",
                     section.id, chart.key, chart.kind, chart.key, escaped(chart.caption))
      << "<div class=\"plot\"></div>\n</figure>\n";
}

void write_cell(std::ostream& out, const Cell& cell, Align align) {
  out << (align == Align::right ? "<td class=\"n\"" : "<td");
  if (cell.number) out << fmt::format(" data-value=\"{}\"", *cell.number);
  out << '>' << (cell.text.empty() ? "–" : escaped(cell.text)) << "</td>";
}

/// Wide tables scroll by themselves, also from the keyboard.
void write_grid(std::ostream& out, const Grid& grid) {
  out << "<div class=\"grid\" tabindex=\"0\" role=\"region\" aria-label=\"" << escaped(grid.caption) << "\">\n"
      << "<table class=\"sortable\">\n<caption>" << escaped(grid.caption) << "</caption>\n<thead><tr>";
  for (const Column& column : grid.columns) {
    out << (column.align == Align::right ? "<th class=\"n\" scope=\"col\">" : "<th scope=\"col\">")
        << escaped(column.heading) << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) {
    out << "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) write_cell(out, row[i], grid.columns[i].align);
    out << "</tr>\n";
  }
  out << "</tbody>\n</table>\n</div>\n";
}

void write_section(std::ostream& out, const PageSection& section) {
  out << "<section id=\"" << section.id << "\" aria-labelledby=\"" << section.id << "-h\">\n<h2 id=\"" << section.id
      << "-h\">" << escaped(section.heading) << "</h2>\n";
  write_paragraphs(out, section.text);
  if (section.folded) out << "<details><summary>Show</summary>\n";
  for (const Chart& chart : section.charts) write_chart(out, section, chart);
  if (!section.picture.empty()) {
    out << "<figure id=\"" << section.id
        << "-picture\" class=\"drawing\"><div class=\"plot\" role=\"img\" aria-label=\"" << escaped(section.heading)
        << "\">" << harmless_svg(section.picture) << "</div></figure>\n";
  }
  for (const Grid& grid : section.grids) write_grid(out, grid);
  if (!section.verbatim.empty()) out << "<pre tabindex=\"0\">" << escaped(section.verbatim) << "</pre>\n";
  if (section.folded) out << "</details>\n";
  out << "</section>\n";
}

void write_contents(std::ostream& out, const Page& page) {
  out << "<nav aria-label=\"Contents\"><ul>\n";
  for (const PageSection& section : page.sections) {
    out << "<li><a href=\"#" << section.id << "\">" << escaped(section.heading) << "</a></li>\n";
  }
  out << "</ul></nav>\n";
}

void write_body(std::ostream& out, const Page& page) {
  out << "<body>\n<header>\n<p class=\"kicker\">" << escaped(page.kicker) << "</p>\n<h1>"
      << prose(page.answer.empty() ? page.kicker : page.answer.front()) << "</h1>\n</header>\n<main>\n";
  if (page.answer.size() > 1) {
    out << "<div class=\"lede\">\n";
    write_paragraphs(out, {page.answer.begin() + 1, page.answer.end()});
    out << "</div>\n";
  }
  write_contents(out, page);
  out << "<noscript><p>Charts need JavaScript; every number stands in the tables.</p></noscript>\n";
  for (const PageSection& section : page.sections) write_section(out, section);
  out << "</main>\n<footer><p>Farandole " << version() << "</p></footer>\n<div id=\"tip\" role=\"status\"></div>\n";
}

}  // namespace

void require_page_parts() {
  if (!d3_script().empty()) return;
  throw std::runtime_error(
      "a page needs the charts of D3, and this program was built without; install the package node-d3 (or give CMake "
      "-DFARANDOLE_D3=.../d3.min.js, version 5 or newer) and build again");
}

void write_html(std::ostream& out, const Page& page) {
  require_page_parts();
  out << head << policy() << "<title>" << escaped(page.kicker) << "</title>\n<style>\n"
      << page_style() << "</style>\n</head>\n";
  write_body(out, page);
  out << "<script type=\"application/json\" id=\"data\">" << script_json(page.data) << "</script>\n";
  if (!page.csv.empty()) {
    out << "<script type=\"application/json\" id=\"csv\">" << script_json(page.csv) << "</script>\n";
  }
  out << "<script>" << d3_script() << "</script>\n<script>" << page_script() << "</script>\n</body>\n</html>\n";
}

}  // namespace farandole::inline report
