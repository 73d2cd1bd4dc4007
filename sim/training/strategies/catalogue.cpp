#include "training/strategies/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

namespace {

constexpr std::array<std::string_view, 3> with_replicas_of_several{"ddp", "fsdp", "zero"};

/// "tensor_parallel", how many neighbouring ranks compute every layer together, and "sequence_parallel".
struct TensorParallel {
  int ranks = 1;
  bool sequence_parallel = false;
};

TensorParallel read_tensor_parallel(Section& section, const std::string& kind, int ranks) {
  TensorParallel read_values;
  const auto group = section.maybe("tensor_parallel");
  if (group) read_values.ranks = read_between(*group, 1, ranks);
  if (read_values.ranks > 1) {
    if (std::ranges::find(with_replicas_of_several, kind) == with_replicas_of_several.end()) {
      group->fail(fmt::format("1 with {}: only {} are simulated around groups of ranks", kind,
                              fmt::join(with_replicas_of_several, ", ")));
    }
    if (ranks % read_values.ranks != 0) group->fail(fmt::format("a divisor of the {} ranks", ranks));
  }
  const auto shares_tokens = section.maybe("sequence_parallel");
  if (shares_tokens) read_values.sequence_parallel = read<bool>(*shares_tokens);
  if (read_values.sequence_parallel && read_values.ranks == 1) {
    shares_tokens->fail("a \"tensor_parallel\" above 1, whose ranks share the tokens");
  }
  return read_values;
}

void take(StrategyChoice& choice, const TensorParallel& tensor) {
  choice.tensor_parallel = tensor.ranks;
  choice.sequence_parallel = tensor.sequence_parallel;
  if (tensor.ranks == 1) return;
  choice.settings["tensor_parallel"] = fmt::format("{}", tensor.ranks);
  choice.settings["sequence_parallel"] = tensor.sequence_parallel ? "true" : "false";
}

}  // namespace

StrategyChoice read_strategy(const Value& where, const std::map<std::string, std::string>& environment, int ranks) {
  Section section(where);
  const auto kind = section.maybe("kind");
  const std::string wanted = kind ? read<std::string>(*kind) : "horovod";
  std::vector<std::string> known;
  for (const StrategyRow& row : strategies()) {
    known.push_back(row.name);
    if (row.name != wanted) continue;
    const TensorParallel tensor = read_tensor_parallel(section, wanted, ranks);
    StrategyChoice choice = row.read({section, environment, ranks / tensor.ranks});
    choice.kind = row.name;
    take(choice, tensor);
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
