#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/heading.hpp"
#include "report/html.hpp"
#include "report/page/assets.hpp"
#include "report/pages.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::string_view head =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n";

constexpr std::string_view tail = "</p></footer>\n<div id=\"tip\" role=\"status\"></div>\n";

/// A browser runs the page's own two scripts, known by their digests, and no other but for what `more` allows, and
/// fetches nothing.
std::string page_policy(std::string_view script_digest, const char* more = "") {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {} {}{}; style-src "
      "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
      script_source(d3_digest()), script_source(script_digest), more);
}

/// "%", "ms", "GB/s", "USD": what follows a number without being a word of the sentence.
bool is_unit(std::string_view word) {
  static constexpr std::array<std::string_view, 22> units{
      "%",  "ns",   "\u00b5s", "ms",   "s",    "min", "h",  "B",   "kB",  "MB",     "GB",
      "TB", "kB/s", "MB/s",    "GB/s", "TB/s", "W",   "kW", "kWh", "MWh", "Gbit/s", "samples/s"};
  while (!word.empty() && (word.back() == '.' || word.back() == ',' || word.back() == ':' || word.back() == ')'))
    word.remove_suffix(1);
  const bool is_currency = word.size() == 3 && std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_currency || std::ranges::find(units, word) != units.end();
}

/// Whether the "us" at `at` is of microseconds: after a number, in brackets, after "in", or by itself.
bool is_microseconds(std::string_view text, std::size_t at) {
  constexpr std::string_view ends = " ).,:;";
  const std::string_view before = text.substr(0, at);
  const std::string_view after = text.substr(at + 2);
  if (!after.empty() && ends.find(after.front()) == std::string_view::npos) return false;
  if (before.empty()) return after.empty();
  const bool has_number = before.size() > 1 && std::isdigit(static_cast<unsigned char>(before[before.size() - 2])) != 0;
  return before.back() == '(' || before.ends_with(" in ") || (before.back() == ' ' && has_number);
}

/// Terminals and files have "us", pages the sign.
std::string with_signs(std::string_view text) {
  constexpr std::string_view sign = "\u00b5s";
  std::string result(text);
  for (auto at = result.find("us"); at != std::string::npos; at = result.find("us", at + sign.size())) {
    if (is_microseconds(result, at)) result.replace(at, 2, sign);
  }
  return result;
}

std::string caption_of(std::string_view text) {
  return escaped(with_signs(text));
}

/// For people: a number and its unit stay on one line.
std::string prose(const std::string& text) {
  std::string result = caption_of(text);
  for (auto at = result.find(' '); at != std::string::npos; at = result.find(' ', at + 1)) {
    if (at == 0 || std::isdigit(static_cast<unsigned char>(result[at - 1])) == 0) continue;
    const auto end = std::min(result.find(' ', at + 1), result.size());
    if (is_unit(std::string_view(result).substr(at + 1, end - at - 1))) result.replace(at, 1, "&nbsp;");
  }
  return result;
}

/// Of a file beside the page: no scheme and no other folder, whatever its name is.
std::string address(std::string_view file) {
  std::string result = "./";
  for (const char c : file) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
    result += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

void write_paragraphs(std::ostream& out, const std::vector<std::string>& paragraphs) {
  for (const std::string& text : paragraphs) out << "<p>" << prose(text) << "</p>\n";
}

void write_chart(std::ostream& out, const PageSection& section, const Chart& chart) {
  out << fmt::format("<figure id=\"{}-{}\" data-chart=\"{}\" data-key=\"{}\">\n<figcaption>{}</figcaption>\n",
                     section.id, chart.key, chart.kind, chart.key, caption_of(chart.caption))
      << "<div class=\"plot\"></div>\n</figure>\n";
}

void write_cell(std::ostream& out, const Cell& cell, Align align) {
  out << (align == Align::right ? "<td class=\"n\"" : "<td");
  if (cell.number) out << fmt::format(" data-value=\"{}\"", *cell.number);
  const bool is_unit_alone = cell.text == "us";  // other values are as one would set them
  out << '>' << (cell.text.empty() ? "–" : is_unit_alone ? caption_of(cell.text) : escaped(cell.text)) << "</td>";
}

/// Wide tables scroll by themselves, also from the keyboard. A long one, and one that says what a chart above it shows,
/// is opened by the reader.
void write_html_grid(std::ostream& out, const Grid& grid, bool below_chart) {
  constexpr std::size_t most_open = 12;  // rows
  const bool folds = below_chart || grid.folded || grid.rows.size() > most_open;
  if (folds)
    out << fmt::format("<details><summary>{}: table of {}</summary>\n", escaped(grid.caption), grid.rows.size());
  out << "<div class=\"grid\" tabindex=\"0\" role=\"region\" aria-label=\"" << escaped(grid.caption) << "\">\n"
      << "<table class=\"sortable\">\n<caption>" << escaped(grid.caption) << "</caption>\n<thead><tr>";
  for (const Column& column : grid.columns) {
    out << (column.align == Align::right ? "<th class=\"n\" scope=\"col\">" : "<th scope=\"col\">")
        << caption_of(column.heading) << "</th>";
  }
  out << "</tr></thead>\n<tbody>\n";
  for (const auto& row : grid.rows) {
    out << "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) write_cell(out, row[i], grid.columns[i].align);
    out << "</tr>\n";
  }
  out << "</tbody>\n</table>\n</div>\n" << (folds ? "</details>\n" : "");
}

void write_html_section(std::ostream& out, const PageSection& section) {
  out << "<section id=\"" << section.id << "\" aria-labelledby=\"" << section.id << "-h\">\n"
      << (section.folded ? "<details><summary>" : "") << "<h2 id=\"" << section.id << "-h\">"
      << escaped(section.heading) << (section.folded ? "</h2></summary>\n" : "</h2>\n");
  write_paragraphs(out, section.text);
  for (const Chart& chart : section.charts) write_chart(out, section, chart);
  if (!section.picture.empty()) {
    out << "<figure id=\"" << section.id
        << "-picture\" class=\"drawing\"><div class=\"plot\" role=\"img\" aria-label=\"" << escaped(section.heading)
        << "\">" << harmless_svg(section.picture) << "</div></figure>\n";
  }
  for (const Grid& grid : section.grids)
    write_html_grid(out, grid, !section.charts.empty() || !section.picture.empty());
  if (!section.link.empty()) {
    out << "<p><a class=\"open\" href=\"" << address(section.link) << "\">Open " << escaped(section.link)
        << "</a></p>\n";
  }
  if (!section.verbatim.empty()) out << "<pre tabindex=\"0\">" << escaped(section.verbatim) << "</pre>\n";
  if (section.folded) out << "</details>\n";
  out << "</section>\n";
}

/// Folded sections are a list of headings themselves, which one entry leads to.
void write_contents(std::ostream& out, const Page& page) {
  out << "<nav aria-label=\"Contents\"><ul>\n";
  for (const PageSection& section : page.sections) {
    if (!section.folded) out << "<li><a href=\"#" << section.id << "\">" << escaped(section.heading) << "</a></li>\n";
  }
  for (const PageSection& section : page.sections) {
    if (section.link.empty()) continue;
    out << "<li><a href=\"" << address(section.link) << "\">" << escaped(section.heading) << "</a></li>\n";
  }
  const auto folded = std::ranges::count_if(page.sections, &PageSection::folded);
  if (folded > 0) out << fmt::format("<li><a href=\"#details\">Details ({})</a></li>\n", folded);
  out << "</ul></nav>\n";
}

void write_sections(std::ostream& out, const Page& page) {
  for (const PageSection& section : page.sections) {
    if (!section.folded) write_html_section(out, section);
  }
  if (std::ranges::none_of(page.sections, &PageSection::folded)) return;
  out << "<div id=\"details\">\n";
  for (const PageSection& section : page.sections) {
    if (section.folded) write_html_section(out, section);
  }
  out << "</div>\n";
}

void write_page_body(std::ostream& out, const Page& page) {
  out << "<body>\n<header>\n<p class=\"kicker\">" << escaped(page.kicker) << "</p>\n<h1>"
      << prose(page.answer.empty() ? page.kicker : page.answer.front()) << "</h1>\n</header>\n<main>\n";
  if (page.answer.size() > 1) {
    out << "<div class=\"lede\">\n";
    write_paragraphs(out, {page.answer.begin() + 1, page.answer.end()});
    out << "</div>\n";
  }
  write_contents(out, page);
  out << "<noscript><p>Charts need JavaScript; every number stands in the tables.</p></noscript>\n";
  write_sections(out, page);
  out << "</main>\n<footer><p>Farandole " << version() << tail;
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
  out << head << page_policy(page_script_digest()) << "<title>" << escaped(page.kicker) << "</title>\n<style>\n"
      << page_style() << "</style>\n</head>\n";
  write_page_body(out, page);
  out << "<script type=\"application/json\" id=\"data\">" << script_json(page.data) << "</script>\n";
  if (!page.csv.empty()) {
    out << "<script type=\"application/json\" id=\"csv\">" << script_json(page.csv) << "</script>\n";
  }
  out << "<script>" << d3_script() << "</script>\n<script>" << page_script() << "</script>\n</body>\n</html>\n";
}

namespace {

/// WebAssembly, in workers that are made of the page's own text.
constexpr const char* of_the_simulator = " 'wasm-unsafe-eval'; worker-src blob:";

std::string option(const Record& value, std::size_t place, std::size_t at) {
  return fmt::format("<option value=\"{}\"{}>{}</option>", place, place == at ? " selected" : "",
                     escaped(value.at("text").get<std::string>()));
}

/// A slider over the places of its values, or a list to choose from.
void write_knob(std::ostream& out, const Record& control) {
  const auto id = control.at("id").get<std::string>();
  const std::string label = escaped(control.at("label").get<std::string>());
  const Record& values = control.at("values");
  const auto at = control.at("at").get<std::size_t>();
  out << fmt::format("<div class=\"knob\"><label for=\"knob-{}\">{}", id, label);
  if (control.at("is_ordered").get<bool>()) {
    out << fmt::format(
        "<output id=\"shown-{0}\" for=\"knob-{0}\"></output></label><input type=\"range\" id=\"knob-{0}\" min=\"0\" "
        "max=\"{1}\" step=\"1\" value=\"{2}\"></div>\n",
        id, values.size() - 1, at);
    return;
  }
  out << fmt::format("</label><select id=\"knob-{}\">", id);
  for (std::size_t place = 0; place < values.size(); ++place) out << option(values[place], place, at);
  out << "</select></div>\n";
}

void write_live(std::ostream& out, const char* key, const char* kind, const char* caption) {
  out << fmt::format(
      "<figure id=\"{0}\" data-live=\"{1}\" data-key=\"{0}\">\n<figcaption>{2}</figcaption>\n<div "
      "class=\"plot\"></div>\n</figure>\n",
      key, kind, caption);
}

void write_explore_body(std::ostream& out, const ExplorePage& page) {
  out << "<body class=\"explore\">\n<header>\n<p class=\"kicker\">" << escaped(page.kicker)
      << "</p>\n<h1>Starting the simulator …</h1>\n<p id=\"status\" role=\"status\"></p>\n</header>\n<main>\n"
         "<p id=\"doubt\" hidden>The simulator in this page does not give the numbers of the program that wrote it. "
         "Trust "
         "the program's.</p>\n"
         "<noscript><p>The simulator of this page needs JavaScript and WebAssembly.</p></noscript>\n"
         "<div class=\"bench\">\n<form class=\"knobs\" aria-label=\"Settings\">\n";
  for (const Record& control : page.data.at("controls")) write_knob(out, control);
  out << "<div class=\"actions\"><button type=\"button\" id=\"copy-scenario\">Copy as scenario</button>"
         "<button type=\"button\" id=\"copy-link\">Copy link</button>"
         "<button type=\"button\" id=\"reset\">Reset</button></div>\n"
         "<textarea id=\"copied\" aria-label=\"To be copied\" readonly hidden></textarea>\n</form>\n<div>\n";
  write_live(out, "curve", "curves", "Scaling efficiency over ranks, with all other settings as chosen");
  write_live(out, "waterfall", "waterfall", "What each mechanism adds to an iteration");
  write_live(out, "timeline", "timeline", "One iteration, seen from rank 0, in milliseconds");
  out << "<p class=\"note\">" << escaped(page.note) << "</p>\n</div>\n</div>\n</main>\n<footer><p>Farandole "
      << version() << tail;
}

}  // namespace

void require_simulator() {
  require_page_parts();
  if (!explore_module().empty()) return;
  throw std::runtime_error(
      fmt::format("no simulator for web pages of this program's sources: {}; packages have theirs, and "
                  "tools/explore/build makes one (where Emscripten is missing or old, with --trixie FOLDER) for the "
                  "program's next build",
                  explore_lack()));
}

void write_explore_page(std::ostream& out, const ExplorePage& page) {
  require_simulator();
  out << head << "<meta name=\"generator\" content=\"farandole explore\">\n"
      << page_policy(explore_script_digest(), of_the_simulator) << "<title>" << escaped(page.kicker)
      << "</title>\n<style>\n"
      << page_style() << explore_style() << "</style>\n</head>\n";
  write_explore_body(out, page);
  out << "<script type=\"application/json\" id=\"data\">" << script_json({{"explore", page.data}}) << "</script>\n"
      << "<script type=\"text/plain\" id=\"module\">" << explore_module() << "</script>\n"
      << "<script type=\"text/plain\" id=\"simulator\">" << explore_simulator() << "</script>\n"
      << "<script>" << d3_script() << "</script>\n<script>" << explore_script() << "</script>\n</body>\n</html>\n";
}

}}  // namespace farandole::report
