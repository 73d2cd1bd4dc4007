#include "training/strategies/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "training/strategies/rows.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace training {

std::span<const StrategyRow> strategies() {
  static const std::vector<StrategyRow> rows{
      horovod_strategy(), ddp_strategy(),    parameter_server_strategy(), distributed_replicated_strategy(),
      fsdp_strategy(),    zero_strategy(),   allgather_strategy(),        local_sgd_strategy(),
      diloco_strategy(),  single_strategy(),
  };
  return rows;
}

namespace {

constexpr std::array<std::string_view, 3> with_replicas_of_several{"ddp", "fsdp", "zero"};

/// How often the ranks are divided that way.
int read_divisor(Section& section, const char* key, const std::string& kind, int ranks) {
  const auto given = section.maybe(key);
  if (!given) return 1;
  const int parts = read_between(*given, 1, ranks);
  if (parts == 1) return parts;
  if (std::ranges::find(with_replicas_of_several, kind) == with_replicas_of_several.end()) {
    given->fail(fmt::format("1 with {}: only {} are simulated around groups of ranks", kind,
                            fmt::join(with_replicas_of_several, ", ")));
  }
  if (ranks % parts != 0) given->fail(fmt::format("a divisor of the {} ranks", ranks));
  return parts;
}

std::vector<int> read_pipeline_blocks(Section& section, int pipeline) {
  const auto given = section.maybe("pipeline_blocks");
  if (!given) return {};
  if (pipeline == 1) given->fail("a \"pipeline\" above 1, whose stages have so many blocks each");
  return mapped(given->elements(), [](const Value& number) { return read_at_least(number, 1); });
}

/// "expert_parallel", how many neighbouring replicas share the experts of a layer, and "expert_imbalance".
void read_experts(Section& section, const std::string& kind, int replicas, StrategyChoice& replica) {
  const auto group = section.maybe("expert_parallel");
  const auto imbalance = section.maybe("expert_imbalance");
  if (group) replica.expert_parallel = read_between(*group, 1, replicas);
  if (replica.expert_parallel > 1) {
    if (kind != "ddp") group->fail(fmt::format("1 with {}: only ddp is simulated around shared experts", kind));
    if (replica.tensor_parallel > 1) group->fail("1 with \"tensor_parallel\": both together are not simulated");
    if (replicas % replica.expert_parallel != 0) group->fail(fmt::format("a divisor of the {} replicas", replicas));
  }
  if (!imbalance) return;
  if (replica.expert_parallel == 1)
    imbalance->fail("an \"expert_parallel\" above 1, whose ranks get more or fewer tokens");
  replica.expert_imbalance = read<double>(*imbalance);
  if (!(replica.expert_imbalance >= 1 && replica.expert_imbalance <= replica.expert_parallel)) {
    imbalance->fail(fmt::format("a number from 1, all alike, to {}, all tokens at one rank", replica.expert_parallel));
  }
}

/// "tensor_parallel", how many neighbouring ranks compute every layer together, and "sequence_parallel"; "pipeline",
/// how many stages have some of the layers each, and "pipeline_blocks". Nothing else of the choice.
StrategyChoice read_replica(Section& section, const std::string& kind, int ranks) {
  StrategyChoice read_values;
  read_values.tensor_parallel = read_divisor(section, "tensor_parallel", kind, ranks);
  read_values.pipeline = read_divisor(section, "pipeline", kind, ranks / read_values.tensor_parallel);
  read_values.pipeline_blocks = read_pipeline_blocks(section, read_values.pipeline);
  read_experts(section, kind, ranks / read_values.tensor_parallel / read_values.pipeline, read_values);
  const auto shares_tokens = section.maybe("sequence_parallel");
  if (shares_tokens) read_values.sequence_parallel = read<bool>(*shares_tokens);
  if (read_values.sequence_parallel && read_values.tensor_parallel == 1) {
    shares_tokens->fail("a \"tensor_parallel\" above 1, whose ranks share the tokens");
  }
  return read_values;
}

void take(StrategyChoice& choice, StrategyChoice replica) {
  choice.tensor_parallel = replica.tensor_parallel;
  choice.sequence_parallel = replica.sequence_parallel;
  choice.pipeline = replica.pipeline;
  choice.pipeline_blocks = std::move(replica.pipeline_blocks);
  choice.expert_parallel = replica.expert_parallel;
  choice.expert_imbalance = replica.expert_imbalance;
  if (choice.expert_parallel > 1) {
    choice.settings["expert_parallel"] = fmt::format("{}", choice.expert_parallel);
    choice.settings["expert_imbalance"] = fmt::format("{:g}", choice.expert_imbalance);
  }
  if (choice.tensor_parallel > 1) {
    choice.settings["tensor_parallel"] = fmt::format("{}", choice.tensor_parallel);
    choice.settings["sequence_parallel"] = choice.sequence_parallel ? "true" : "false";
  }
  if (choice.pipeline == 1) return;
  choice.settings["pipeline"] = fmt::format("{}", choice.pipeline);
  if (!choice.pipeline_blocks.empty()) {
    choice.settings["pipeline_blocks"] = fmt::format("{}", fmt::join(choice.pipeline_blocks, ", "));
  }
}

}  // namespace

StrategyChoice read_strategy(const Value& where, const std::map<std::string, std::string>& environment, int ranks,
                             int ranks_per_node) {
  Section section(where);
  const auto kind = section.maybe("kind");
  const std::string wanted = kind ? read<std::string>(*kind) : "horovod";
  std::vector<std::string> known;
  for (const StrategyRow& row : strategies()) {
    known.push_back(row.name);
    if (row.name != wanted) continue;
    StrategyChoice replica = read_replica(section, wanted, ranks);
    const int of_replica = replica.replica();
    StrategyChoice choice = row.read(
        {section, environment, ranks / of_replica, replica.pipeline, std::min(ranks, ranks_per_node) / of_replica});
    choice.kind = row.name;
    take(choice, std::move(replica));
    section.finish();
    return choice;
  }
  kind->fail_unknown("a strategy", known);
}

void read_offload(Section& section, StrategyChoice& choice) {
  choice.offloads_optimizer = section.optional("offload_optimizer", false);
  if (choice.offloads_optimizer) choice.settings["offload_optimizer"] = "true";
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

}}  // namespace farandole::training
