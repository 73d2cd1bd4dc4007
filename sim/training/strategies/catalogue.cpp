#include "training/strategies/catalogue.hpp"

#include <algorithm>
#include <cctype>

#include "config/limits.hpp"
#include "training/strategies/rows.hpp"

namespace farandole::inline training {

std::span<const StrategyRow> strategies() {
  static const std::vector<StrategyRow> rows{
      horovod_strategy(), ddp_strategy(),    parameter_server_strategy(), distributed_replicated_strategy(),
      fsdp_strategy(),    zero_strategy(),   allgather_strategy(),        local_sgd_strategy(),
      diloco_strategy(),  single_strategy(),
  };
  return rows;
}

StrategyChoice read_strategy(const Value& where, const std::map<std::string, std::string>& environment, int ranks) {
  Section section(where);
  const auto kind = section.maybe("kind");
  const std::string wanted = kind ? read<std::string>(*kind) : "horovod";
  std::vector<std::string> known;
  for (const StrategyRow& row : strategies()) {
    known.push_back(row.name);
    if (row.name != wanted) continue;
    StrategyChoice choice = row.read({section, environment, ranks});
    choice.kind = row.name;
    section.finish();
    return choice;
  }
  kind->fail_unknown("a strategy", known);
}

CompressionSettings read_compression(Section& section) {
  const auto compression = section.maybe("compression");
  return compression ? read_compression(*compression) : CompressionSettings{};
}

int read_accumulation(Section& section) {
  const auto passes = section.maybe("accumulation");
  constexpr int most_passes = 1'000'000;
  return passes ? read_between(*passes, 1, most_passes) : 1;
}

void read_overlap(Section& section, StrategyChoice& choice) {
  choice.overlap = section.optional("overlap", choice.overlap);
  if (!choice.overlap) choice.settings["overlap"] = "false";
}

std::string activity(const std::string& library, Operation operation) {
  std::string text = library + "_" + name(operation);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

void ignore_environment(const StrategyInput& input, StrategyChoice& choice) {
  for (const auto& [name, text] : input.environment) choice.ignored.push_back(name);
}

}  // namespace farandole::inline training
