// One rank alone: nothing travels. With accumulation it goes through a batch in shards that fit into its memory, adds
// up their gradients, and updates once.
#include <fmt/format.h>

#include "training/strategies/bucketed.hpp"
#include "training/strategies/rows.hpp"

namespace farandole { inline namespace training {
namespace {

StrategyChoice read_single(const StrategyInput& input) {
  if (input.ranks != 1) {
    input.section.value().fail("one rank for the strategy \"single\"", fmt::format("{}", input.ranks),
                               "; several ranks train together with ddp, horovod, parameter_server, ...");
  }
  StrategyChoice choice;
  choice.accumulation = read_accumulation(input.section);
  ignore_environment(input, choice);
  choice.make = make_alone;
  return choice;
}

}  // namespace

std::unique_ptr<Strategy> make_alone(const StrategySite& site) {
  return std::make_unique<Bucketed>(site, BucketPlan{});
}

StrategyRow single_strategy() {
  return {"single", "one rank alone, its batch in as many shards as its memory asks for",
          "Settings of \"strategy\" in a scenario:\n"
          "  accumulation  shards of batch_per_rank samples that make up one step (default 1)\n",
          read_single};
}

}}  // namespace farandole::training
