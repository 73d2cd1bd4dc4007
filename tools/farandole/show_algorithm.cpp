// farandole show algorithms, algorithm NAME, strategies, strategy NAME.
#include <iterator>

#include <fmt/format.h>

#include "collective/algorithms.hpp"
#include "command.hpp"
#include "show.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

constexpr int most_ranks_printed = 64;

const Algorithm& find(const ShowRequest& request) {
  const Operation* operation = find_operation(request.operation);
  if (operation == nullptr) {
    refuse_option("--op", "an operation", request.operation, suggestion(request.operation, operation_names()));
  }
  const Algorithm* found = find_algorithm(*operation, request.name);
  if (found == nullptr) {
    refuse_option("show algorithm", "an algorithm for " + request.operation, request.name,
                  suggestion(request.name, algorithm_names(*operation)));
  }
  return *found;
}

void add_round(Shown& shown, const Schedule& schedule, const Phase& phase, int repeat, int round) {
  fmt::format_to(std::back_inserter(shown.text), "round {} ({})\n", round, phase.name);
  Json transfers = Json::array();
  for (const Transfer& transfer : phase.transfers) {
    const int chunk = chunk_in_repeat(schedule, phase, transfer, repeat);
    const char* action = transfer.action == Action::reduce ? "adds it" : "takes it over";
    fmt::format_to(std::back_inserter(shown.text), "  rank {} sends segment {} to rank {}, which {}\n", transfer.from,
                   chunk, transfer.to, action);
    transfers.push_back({{"from", transfer.from},
                         {"to", transfer.to},
                         {"chunk", chunk},
                         {"action", transfer.action == Action::reduce ? "reduce" : "copy"}});
  }
  shown.json["rounds"].push_back({{"phase", phase.name}, {"transfers", transfers}});
}

Json strategy_json(const StrategyRow& row) {
  return {{"name", row.name}, {"summary", row.summary}};
}

}  // namespace

Shown show_algorithms(const ShowRequest& /*request*/) {
  Shown shown{fmt::format("{:<14} {:<20} {}\n", "op", "algorithm", "summary"), Json::array()};
  for (const Algorithm& row : algorithms()) {
    shown.json.push_back({{"op", name(row.operation)}, {"name", row.name}, {"summary", row.summary}});
    fmt::format_to(std::back_inserter(shown.text), "{:<14} {:<20} {}\n", name(row.operation), row.name, row.summary);
  }
  return shown;
}

Shown show_algorithm(const ShowRequest& request) {
  const Algorithm& algorithm = find(request);
  if (request.ranks > most_ranks_printed) {
    refuse_option("--ranks", fmt::format("at most {}, to print every round", most_ranks_printed),
                  std::to_string(request.ranks));
  }
  const Schedule schedule = algorithm.build(request.ranks);
  Shown shown{fmt::format("{} {}: {}\n{} ranks, {} segments, {} rounds\n", algorithm.name, name(algorithm.operation),
                          algorithm.summary, schedule.ranks, schedule.chunks, rounds(schedule)),
              {{"op", name(algorithm.operation)},
               {"name", algorithm.name},
               {"summary", algorithm.summary},
               {"ranks", schedule.ranks},
               {"chunks", schedule.chunks},
               {"rounds", Json::array()}}};
  int round = 0;
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) add_round(shown, schedule, phase, repeat, ++round);
  }
  return shown;
}

Shown show_strategies(const ShowRequest& /*request*/) {
  Shown shown{fmt::format("{:<14} {}\n", "strategy", "summary"), Json::array()};
  for (const StrategyRow& row : strategies()) {
    shown.json.push_back(strategy_json(row));
    fmt::format_to(std::back_inserter(shown.text), "{:<14} {}\n", row.name, row.summary);
  }
  return shown;
}

Shown show_strategy(const ShowRequest& request) {
  std::vector<std::string> known;
  for (const StrategyRow& row : strategies()) {
    if (row.name == request.name)
      return {fmt::format("{}: {}\n\n{}", row.name, row.summary, row.description), strategy_json(row)};
    known.push_back(row.name);
  }
  refuse_option("show strategy", "a strategy", request.name, suggestion(request.name, known));
}

}  // namespace farandole
