#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/page/assets.hpp"
#include "report/pages.hpp"
#include "report/version.hpp"

namespace farandole { inline namespace report {
namespace {

/// As of other pages (html_page.cpp), and WebAssembly, in workers that are made of the page's own text.
std::string explore_page_policy() {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {} {} 'wasm-unsafe-eval'; "
      "worker-src blob:; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
      script_source(d3_digest()), script_source(explore_script_digest()));
}

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
      << version() << "</p></footer>\n<div id=\"tip\" role=\"status\"></div>\n";
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
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta name=\"generator\" content=\"farandole explore\">\n"
      << explore_page_policy() << "<title>" << escaped(page.kicker) << "</title>\n<style>\n"
      << page_style() << explore_style() << "</style>\n</head>\n";
  write_explore_body(out, page);
  out << "<script type=\"application/json\" id=\"data\">" << script_json({{"explore", page.data}}) << "</script>\n"
      << "<script type=\"text/plain\" id=\"module\">" << explore_module() << "</script>\n"
      << "<script type=\"text/plain\" id=\"simulator\">" << explore_simulator() << "</script>\n"
      << "<script>" << d3_script() << "</script>\n<script>" << explore_script() << "</script>\n</body>\n</html>\n";
}

}}  // namespace farandole::report
