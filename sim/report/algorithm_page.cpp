#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collective/algorithms.hpp"
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

}}  // namespace farandole::report
