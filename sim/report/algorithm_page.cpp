#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collective/algorithms.hpp"
#include "report/html.hpp"
#include "report/page_parts.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"

namespace farandole { inline namespace report {
namespace {

constexpr std::size_t most_named = 4;  // transfers of a round that its sentence names one by one

std::string counted(Chunk number, std::string_view what) {
  return fmt::format("{} {}{}", number == 1 ? "one" : std::to_string(number), what, number == 1 ? "" : "s");
}

/// What the field says of the halves of an allreduce, when one of them begins.
std::string_view introduction(const std::string& phase) {
  static const std::map<std::string, std::string_view, std::less<>> known{
      {"reduce_scatter", "Reduce-scatter: partial sums travel and grow until each rank has the whole sum of one part."},
      {"halving", "Reduce-scatter by halves: each round sums half of what was left to sum."},
      {"allgather", "Allgather: finished parts are copied until every rank has all of them."},
      {"doubling", "Allgather by doubling: each round brings as many parts again as a rank has."},
      {"exchange", "Every rank exchanges all that it has with a partner, and both add."},
      {"reduce", "Reduce: partial sums meet on their way to the root."},
      {"broadcast", "Broadcast: what the root has is copied to all."},
  };
  const auto found = known.find(phase);
  return found == known.end() ? std::string_view() : found->second;
}

std::string received(Action action) {
  return action == Action::copy ? "keeps" : action == Action::reduce ? "adds" : "adds and passes on";
}

/// What `of` says of every send, where it is the same of all and every rank sends one; else 0.
int common(const WalkedRound& round, int ranks, auto of) {
  std::set<int> values;
  std::set<int> senders;
  for (const Send& send : round.sends) {
    values.insert(of(send));
    senders.insert(send.from);
  }
  return values.size() == 1 && std::cmp_equal(senders.size(), ranks) ? *values.begin() : 0;
}

bool are_alike(const std::vector<Send>& sends) {
  return std::ranges::all_of(sends, [&](const Send& send) {
    return send.action == sends.front().action && send.chunks.size() == sends.front().chunks.size();
  });
}

std::string one_by_one(const WalkedRound& round) {
  std::vector<std::string> parts;
  for (const Send& send : round.sends) {
    if (parts.size() == most_named) break;
    parts.push_back(fmt::format("rank {} sends segment{} {} to rank {}, which {} {}", send.from,
                                send.chunks.size() == 1 ? "" : "s", chunks_text(send.chunks), send.to,
                                received(send.action), send.chunks.size() == 1 ? "it" : "them"));
  }
  std::string text = fmt::format("{}", fmt::join(parts, "; "));
  if (round.sends.size() > most_named) text += fmt::format("; and {} more", round.sends.size() - most_named);
  text.front() = 'R';
  return text + ".";
}

/// What happens in a round: of all ranks in one sentence where they do the same.
std::string happening(const WalkedRound& round, int ranks) {
  if (round.sends.empty()) return "Nothing is sent.";
  const Send& first = round.sends.front();
  const auto size = static_cast<Chunk>(first.chunks.size());
  const std::string what = counted(size, "segment");
  const std::string done = received(first.action) + (size == 1 ? " it" : " them");
  if (!are_alike(round.sends) || std::cmp_not_equal(round.sends.size(), ranks)) return one_by_one(round);
  const auto apart = [](const Send& send) { return send.from ^ send.to; };
  if (const int distance = common(round, ranks, apart); distance != 0) {
    return fmt::format("Every rank exchanges {} with the rank {} away ({} with {}), and each {} {}.", what, distance,
                       first.from, first.to, received(first.action), size == 1 ? "it" : "them");
  }
  const auto ahead = [&](const Send& send) { return (send.to - send.from + ranks) % ranks; };  // on the ring of ranks
  if (const int step = common(round, ranks, ahead); step != 0) {
    const std::string to = step == 1           ? "the next rank"
                           : step == ranks - 1 ? "the rank before it"
                                               : fmt::format("the rank {} ahead", step);
    return fmt::format("Every rank sends {} to {}, which {}.", what, to, done);
  }
  return one_by_one(round);
}

bool reduces(const Walk& walk) {
  return std::ranges::any_of(walk.rounds, [](const WalkedRound& round) {
    return std::ranges::any_of(round.sends, [](const Send& send) { return send.action != Action::copy; });
  });
}

/// Cells with the contributions of all ranks where contributions add up, else of any.
std::string standing(const Walk& walk, const SymbolicState& held) {
  const Schedule& schedule = walk.schedule;
  const bool adds_up = reduces(walk);
  Chunk cells = 0;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) {
      const auto in = (held.at(rank, chunk) > 0).count();
      cells += in >= (adds_up ? schedule.ranks : 1) ? 1 : 0;
    }
  }
  return fmt::format("{} in {} of {} cells.", adds_up ? "Whole sums" : "Something", cells,
                     schedule.ranks * schedule.chunks);
}

/// The start, then each round: what the page says beside the picture.
std::vector<std::string> sentences(const Walk& walk) {
  std::vector<std::string> texts{"At the start every rank has its own contribution. " + standing(walk, walk.start)};
  std::string phase;
  for (const WalkedRound& round : walk.rounds) {
    std::string text;
    if (round.phase != phase && !introduction(round.phase).empty()) text = std::string(introduction(round.phase)) + " ";
    phase = round.phase;
    texts.push_back(text + happening(round, walk.schedule.ranks) + " " + standing(walk, round.held));
  }
  return texts;
}

Record held_record(const Schedule& schedule, const SymbolicState& held) {
  Record ranks = Record::array();
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    Record cells = Record::array();
    for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) {
      const Counts& counts = held.at(rank, chunk);
      cells.push_back({held_text(counts), (counts > 0).count()});
    }
    ranks.push_back(std::move(cells));
  }
  return ranks;
}

Record send_record(const Send& send) {
  const char* action = send.action == Action::copy ? "copy" : send.action == Action::reduce ? "reduce" : "relay";
  return {{"from", send.from}, {"to", send.to}, {"action", action}, {"chunks", send.chunks}};
}

Record steps_record(const Walk& walk, const std::vector<std::string>& texts) {
  Record steps = Record::array();
  steps.push_back({{"phase", "start"},
                   {"sends", Record::array()},
                   {"held", held_record(walk.schedule, walk.start)},
                   {"text", texts.front()}});
  for (std::size_t i = 0; i < walk.rounds.size(); ++i) {
    steps.push_back({{"phase", walk.rounds[i].phase},
                     {"sends", mapped(walk.rounds[i].sends, send_record)},
                     {"held", held_record(walk.schedule, walk.rounds[i].held)},
                     {"text", texts[i + 1]}});
  }
  return {{"ranks", walk.schedule.ranks},
          {"chunks", walk.schedule.chunks},
          {"copies", walk.schedule.copies},
          {"steps", std::move(steps)}};
}

/// "Every rank sends 6 segments, of data cut into 4."
std::string volume(const Walk& walk) {
  std::vector<Chunk> sent(static_cast<std::size_t>(walk.schedule.ranks));
  for (const WalkedRound& round : walk.rounds) {
    for (const Send& send : round.sends) sent[static_cast<std::size_t>(send.from)] += std::ssize(send.chunks);
  }
  const auto [least, most] = std::ranges::minmax(sent);
  const std::string who = least == most ? "Every rank sends" : "The rank that sends most sends";
  return fmt::format("{} {}, of data cut into {}.", who, counted(most, "segment"),
                     walk.schedule.chunks / walk.schedule.copies);
}

Grid grid_of(const Walk& walk, const std::vector<std::string>& texts) {
  Grid grid{"Every round in words", {{"round"}, {"phase", Align::left}, {"what happens", Align::left}}, {}};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string phase = i == 0 ? "start" : walk.rounds[i - 1].phase;
    std::ranges::replace(phase, '_', ' ');
    grid.rows.push_back({number_cell(static_cast<double>(i), 0), Cell(phase), Cell(texts[i])});
  }
  return grid;
}

/// How to time it, where it is one of the algorithms that go by name.
void add_commands(const Schedule& schedule, Page& page) {
  const bool is_named = find_algorithm(schedule.operation, schedule.algorithm) != nullptr;
  if (!is_named || schedule.operation == Operation::parameter_server) return;
  const std::string command =
      fmt::format("farandole collective --op {} --algorithm {} --ranks {} --topology dgx-a100 -b 1K -e 64M -f 4",
                  name(schedule.operation), schedule.algorithm, schedule.ranks);
  PageSection section{"time", "What it takes in time"};
  section.text = {
      "Rounds cost latency, segments cost bandwidth. The same algorithm, timed on a machine from small to large, with "
      "a page of its own:"};
  section.verbatim = command + " --html collective.html";
  page.sections.push_back(std::move(section));
}

}  // namespace

void write_algorithm_html(std::ostream& out, const Walk& walk, const std::string& title) {
  const std::vector<std::string> texts = sentences(walk);
  Page page;
  page.kicker = "Farandole · how data travel";
  page.answer = {fmt::format("{}: {}.", title, counted(std::ssize(walk.rounds), "round")), volume(walk)};
  page.data["steps"] = steps_record(walk, texts);
  page.sections.push_back({"steps",
                           "Step by step",
                           {"A column is a rank, a cell one segment of its data; the text says whose contributions are "
                            "in it, or of how many."},
                           {{"steps", "steps", "What every rank holds"}}});
  page.sections.push_back({.id = "words", .heading = "In words", .grids = {grid_of(walk, texts)}});
  add_commands(walk.schedule, page);
  write_html(out, page);
}

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
