#include <algorithm>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/html.hpp"
#include "report/reports.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr int cell_width = 76;
constexpr int cell_height = 24;
constexpr int column_width = cell_width + 64;
constexpr int left_margin = 24;
constexpr int top_margin = 84;

constexpr std::string_view drawing_style =
    "text{font:13px sans-serif;text-anchor:middle}.title{font-size:17px;text-anchor:start}.note{text-anchor:start;"
    "fill:#555}rect{stroke:#778;stroke-width:1}.new{stroke:#c60;stroke-width:3}path{fill:none;stroke-width:1.8}"
    ".reduce{stroke:#26c}.copy{stroke:#283}.frame{display:none}.shown{display:inline}";

constexpr std::string_view drawing_script =
    "(function(){var f=document.querySelectorAll('.frame'),at=0;function show(k){at=Math.max(0,Math.min(f.length-1,k));"
    "f.forEach(function(g,i){g.setAttribute('class',i===at?'frame shown':'frame')});"
    "var s=document.getElementById('slider');if(s){s.value=at}}"
    "document.addEventListener('keydown',function(e){if(e.key==='ArrowRight')show(at+1);"
    "if(e.key==='ArrowLeft')show(at-1)});"
    "document.querySelector('svg').addEventListener('click',function(){show(at+1<f.length?at+1:0)});"
    "[['back',-1],['next',1]].forEach(function(b){var n=document.getElementById(b[0]);"
    "if(n)n.addEventListener('click',function(){show(at+b[1])})});"
    "var s=document.getElementById('slider');if(s)s.addEventListener('input',function(){show(+s.value)});})();";

int x_of(int rank) {
  return left_margin + rank * column_width;
}
int y_of(Chunk chunk) {
  return top_margin + static_cast<int>(chunk) * cell_height;
}

/// White for nothing, then from light to full with the share of ranks that are in.
std::string fill_of(const Counts& counts) {
  const auto in = static_cast<double>((counts > 0).count());
  const double share = in / static_cast<double>(counts.size());
  const double lightness = in > 0 ? 94 - 34 * share : 100;
  return fmt::format("hsl(42,90%,{:.0f}%)", lightness);
}

using ChangedCells = std::set<std::pair<int, Chunk>>;

void draw_cells(std::ostream& out, const Schedule& schedule, const SymbolicState& held, const ChangedCells& changed) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    out << fmt::format("<text x=\"{}\" y=\"{}\">rank {}</text>\n", x_of(rank) + cell_width / 2, top_margin - 8, rank);
    for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) {
      const Counts& counts = held.at(rank, chunk);
      const char* mark = changed.contains({rank, chunk}) ? " class=\"new\"" : "";
      std::string text = held_text(counts);
      if (text.size() > 10) text = fmt::format("{} of {}", (counts > 0).count(), counts.size());
      out << fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}/>", x_of(rank), y_of(chunk),
                         cell_width, cell_height - 2, fill_of(counts), mark);
      out << fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", x_of(rank) + cell_width / 2,
                         y_of(chunk) + cell_height - 8, text);
    }
  }
}

/// From the side of one cell to the near side of the other; long ways bow upwards.
void draw_arrow(std::ostream& out, const Send& send, Chunk chunk) {
  const bool is_right = send.to > send.from;
  const int from = x_of(send.from) + (is_right ? cell_width : 0);
  const int to = x_of(send.to) + (is_right ? -3 : cell_width + 3);
  const int y = y_of(chunk) + cell_height / 2;
  const int distance = send.to > send.from ? send.to - send.from : send.from - send.to;
  const int bow = distance == 1 ? 0 : 12 + 6 * std::min(distance, 6);
  const char* kind = send.action == Action::copy ? "copy" : "reduce";
  out << fmt::format("<path class=\"{}\" marker-end=\"url(#{}-head)\" d=\"M{} {} Q{} {} {} {}\"/>\n", kind, kind, from,
                     y, (from + to) / 2, y - bow, to, y);
}

void draw_heading(std::ostream& out, const std::string& title, const std::string& note) {
  out << fmt::format("<text class=\"title\" x=\"{}\" y=\"26\">{}</text>\n", left_margin, escaped(title));
  out << fmt::format("<text class=\"note\" x=\"{}\" y=\"48\">{}</text>\n", left_margin, escaped(note));
}

void draw_round(std::ostream& out, const Walk& walk, std::size_t number, const std::string& title) {
  const WalkedRound& round = walk.rounds[number];
  ChangedCells changed;
  for (const Send& send : round.sends) {
    for (const Chunk chunk : send.chunks) {
      changed.emplace(send.to, chunk);
      if (send.action == Action::relay) changed.emplace(send.to, first_copy(walk.schedule, chunk));
    }
  }
  out << "<g class=\"frame\">\n";
  draw_heading(out, title, fmt::format("round {} of {}: {}", number + 1, walk.rounds.size(), round.phase));
  draw_cells(out, walk.schedule, round.held, changed);
  for (const Send& send : round.sends) {
    for (const Chunk chunk : send.chunks) draw_arrow(out, send, chunk);
  }
  out << "</g>\n";
}

void draw_head(std::ostream& out, const char* kind, const char* colour) {
  out << fmt::format(
      "<marker id=\"{}-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" style=\"fill:{};stroke:none\"/></marker>",
      kind, colour);
}

}  // namespace

/// The picture with all its frames, the first of which is shown; what steps through them comes after.
void write_algorithm_svg(std::ostream& out, const Walk& walk, const std::string& title) {
  const int width = std::max(x_of(walk.schedule.ranks), 560);
  const int height = y_of(walk.schedule.chunks) + 16;
  out << fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n", width,
      height);
  out << "<style>" << drawing_style << "</style>\n<defs>";
  draw_head(out, "reduce", "#26c");
  draw_head(out, "copy", "#283");
  out << "</defs>\n<g class=\"frame shown\">\n";
  draw_heading(out, title, "at the start; a cell says whose contributions are in it");
  draw_cells(out, walk.schedule, walk.start, {});
  out << "</g>\n";
  for (std::size_t round = 0; round < walk.rounds.size(); ++round) draw_round(out, walk, round, title);
  out << "<script><![CDATA[" << drawing_script << "]]></script>\n</svg>\n";
}

}}  // namespace farandole::report
