// The rows of the catalogue of strategies, each made in the file of its name.
#pragma once

#include "training/strategies/catalogue.hpp"

namespace farandole { inline namespace training {

StrategyRow horovod_strategy();
StrategyRow ddp_strategy();
StrategyRow allgather_strategy();
StrategyRow local_sgd_strategy();
StrategyRow diloco_strategy();
StrategyRow fsdp_strategy();
StrategyRow zero_strategy();
StrategyRow single_strategy();
StrategyRow parameter_server_strategy();
StrategyRow distributed_replicated_strategy();

/// Steps from one exchange to the next, of strategies that do not exchange in every step: whole periods are simulated.
inline constexpr int most_period = 1'000'000;

/// One rank alone, whatever the strategy of many.
std::unique_ptr<Strategy> make_alone(const StrategySite& site);

/// "offload_optimizer".
void read_offload(Section& section, StrategyChoice& choice);

}}  // namespace farandole::training
