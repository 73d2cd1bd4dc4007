// The rows of the catalogue of strategies, each made in the file of its name.
#pragma once

#include "training/strategies/catalogue.hpp"

namespace farandole {

StrategyRow horovod_strategy();
StrategyRow ddp_strategy();
StrategyRow allgather_strategy();
StrategyRow local_sgd_strategy();
StrategyRow single_strategy();

}  // namespace farandole
