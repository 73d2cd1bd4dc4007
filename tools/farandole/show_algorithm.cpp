// farandole show algorithms, algorithm NAME, strategies, strategy NAME.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "collective/algorithms.hpp"
#include "collective/files/read_schedule.hpp"
#include "collective/walk.hpp"
#include "command.hpp"
#include "report/reports.hpp"
#include "server_options.hpp"
#include "show.hpp"
#include "simulate/library/library.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_ranks_printed = 64;
constexpr double most_cells = 1e6;

const Algorithm& find(const ShowRequest& request) {
  const Operation* operation = find_operation(request.operation);
  if (operation == nullptr) {
    refuse_option("--op", "an operation", request.operation, suggestion(request.operation, operation_names()));
  }
  const Algorithm* found = find_algorithm(*operation, request.name);
  if (found == nullptr) {
    const bool is_library = find_library(request.name) != nullptr;
    refuse_option("show algorithm", "an algorithm for " + request.operation, request.name,
                  is_library ? "; a library, which picks them: farandole show constants " + request.name
                             : suggestion(request.name, algorithm_names(*operation)));
  }
  return *found;
}

/// How many parameter servers; the algorithm's own number where none is asked for.
int servers_of(const ShowRequest& request, const Algorithm& algorithm) {
  if (request.servers == 0) return 0;
  require_servers(algorithm, request.ranks, request.servers);
  return request.servers;
}

/// A named algorithm built for so many ranks, or a file's own.
Schedule schedule_of(const ShowRequest& request, std::string& summary) {
  if (is_algorithm_file(request.name)) {
    summary = "from " + request.name;
    return read_schedule(request.name);
  }
  const Algorithm& algorithm = find(request);
  if (request.ranks > most_ranks_printed) {
    refuse_option("--ranks", fmt::format("at most {}, to print every round", most_ranks_printed),
                  std::to_string(request.ranks));
  }
  if (request.root >= request.ranks) {
    refuse_option("--root", fmt::format("a rank below the {} of --ranks", request.ranks), std::to_string(request.root));
  }
  summary = algorithm.summary;
  Shape shape(request.ranks, request.root);
  shape.ranks_per_node = std::min(request.ranks_per_node, request.ranks);  // no node has more
  shape.segments = request.segments;
  shape.servers = servers_of(request, algorithm);
  return algorithm.build(shape);
}

/// What the receiver does with one segment, or with several.
std::string_view received(Action action, bool is_one) {
  switch (action) {
    case Action::copy:
      return is_one ? "takes it over" : "takes them over";
    case Action::reduce:
      return is_one ? "adds it" : "adds them";
    case Action::relay:
      return is_one ? "adds it and keeps it to pass on" : "adds them and keeps them to pass on";
  }
  return {};
}

std::string action_name(Action action) {
  return action == Action::copy ? "copy" : action == Action::reduce ? "reduce" : "relay";
}

std::string held_line(const Schedule& schedule, const SymbolicState& held, int rank) {
  std::string line = fmt::format("  rank {} holds", rank);
  for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) {
    const std::string text = held_text(held.at(rank, chunk));
    if (!text.empty()) fmt::format_to(std::back_inserter(line), " {}{{{}}}", chunk, text);
  }
  return line + "\n";
}

Json held_json(const Schedule& schedule, const SymbolicState& held) {
  Json ranks = Json::array();
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    Json chunks = Json::array();
    for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) chunks.push_back(held_text(held.at(rank, chunk)));
    ranks.push_back(std::move(chunks));
  }
  return ranks;
}

Json transfer_json(const Send& send) {
  return {{"from", send.from},
          {"to", send.to},
          {"chunk", send.chunks.front()},
          {"chunks", send.chunks},
          {"action", action_name(send.action)}};
}

void add_round(Shown& shown, const Schedule& schedule, const WalkedRound& round, std::size_t number) {
  fmt::format_to(std::back_inserter(shown.text), "round {} ({})\n", number, round.phase);
  Json transfers = Json::array();
  for (const Send& send : round.sends) {
    const bool is_one = send.chunks.size() == 1;
    fmt::format_to(std::back_inserter(shown.text), "  rank {} sends segment{} {} to rank {}, which {}\n", send.from,
                   is_one ? "" : "s", chunks_text(send.chunks), send.to, received(send.action, is_one));
  }
  for (const Send& send : round.sends) transfers.push_back(transfer_json(send));
  for (int rank = 0; rank < schedule.ranks; ++rank) shown.text += held_line(schedule, round.held, rank);
  shown.json["rounds"].push_back(
      {{"phase", round.phase}, {"transfers", transfers}, {"held", held_json(schedule, round.held)}});
}

std::string copies_text(const Schedule& schedule) {
  if (schedule.copies == 1) return {};
  const Chunk first = schedule.chunks / schedule.copies;
  return fmt::format("the sum is in the first {} segment{}; the others are copies to pass on\n", first,
                     first == 1 ? "" : "s");
}

Json strategy_json(const StrategyRow& row) {
  return {{"name", row.name}, {"summary", row.summary}};
}

}  // namespace

Shown show_algorithms(const ShowRequest& /*request*/) {
  Shown shown{fmt::format("{:<14} {:<20} {}\n", "op", "algorithm", "summary"), Json::array(), {}};
  for (const Algorithm& row : algorithms()) {
    shown.json.push_back({{"op", name(row.operation)}, {"name", row.name}, {"summary", row.summary}});
    fmt::format_to(std::back_inserter(shown.text), "{:<14} {:<20} {}\n", name(row.operation), row.name, row.summary);
  }
  for (const Library* library : libraries()) {
    for (const Operation operation : library->operations) {
      shown.json.push_back({{"op", name(operation)}, {"name", library->name}, {"summary", library->summary}});
      fmt::format_to(std::back_inserter(shown.text), "{:<14} {:<20} {}\n", name(operation), library->name,
                     library->summary);
    }
  }
  return shown;
}

Shown show_algorithm(const ShowRequest& request) {
  std::string summary;
  const Schedule schedule = schedule_of(request, summary);
  if (cells_of_walk(schedule) > most_cells) {
    refuse_option("--ranks", "fewer, to show what all hold after every round", std::to_string(request.ranks));
  }
  const Walk walked = walk(schedule);
  const std::string operation = name(schedule.operation);
  const std::string heading = fmt::format("{} {}", schedule.algorithm, operation);
  Shown shown{fmt::format("{}: {}\n{} ranks, {} segments, {} rounds\n", heading, summary, schedule.ranks,
                          schedule.chunks, rounds(schedule)),
              {{"op", operation},
               {"name", schedule.algorithm},
               {"summary", summary},
               {"ranks", schedule.ranks},
               {"chunks", schedule.chunks},
               {"rounds", Json::array()}},
              {}};
  shown.text += "2{0+1} is segment 2 with the contributions of ranks 0 and 1\n";
  shown.text += copies_text(schedule) + "at the start\n";
  for (int rank = 0; rank < schedule.ranks; ++rank) shown.text += held_line(schedule, walked.start, rank);
  for (std::size_t round = 0; round < walked.rounds.size(); ++round) {
    add_round(shown, schedule, walked.rounds[round], round + 1);
  }
  shown.draw = [walked, title = fmt::format("{} of {} ranks", heading, schedule.ranks)](std::ostream& out,
                                                                                        bool is_html) {
    (is_html ? write_algorithm_html : write_algorithm_svg)(out, walked, title);
  };
  return shown;
}

Shown show_strategies(const ShowRequest& /*request*/) {
  Shown shown{fmt::format("{:<22} {}\n", "strategy", "summary"), Json::array(), {}};
  for (const StrategyRow& row : strategies()) {
    shown.json.push_back(strategy_json(row));
    fmt::format_to(std::back_inserter(shown.text), "{:<22} {}\n", row.name, row.summary);
  }
  return shown;
}

Shown show_strategy(const ShowRequest& request) {
  std::vector<std::string> known;
  for (const StrategyRow& row : strategies()) {
    if (row.name == request.name)
      return {fmt::format("{}: {}\n\n{}", row.name, row.summary, row.description), strategy_json(row), {}};
    known.push_back(row.name);
  }
  refuse_option("show strategy", "a strategy", request.name, suggestion(request.name, known));
}

}  // namespace farandole
