// What Horovod's rank 0 spends on requests and messages while it negotiates, as measured.
//
// tests/bench/coordinator_bench.cpp rebuilds the loop; its rows are in tests/training/coordinator_costs.json, whose
// medians these are, with the least and the most of them. Two processes on one machine: through shared memory, as
// a network that is spoken to past the kernel, and over TCP. Called by the strategy "horovod".
#pragma once

#include "training/strategies/catalogue.hpp"

namespace farandole {

struct CoordinatorCost {
  const char* setting;
  const char* what;
  Seconds least;
  Seconds used;
  Seconds most;

  [[nodiscard]] UncertainSetting as_setting() const;
};

/// Reading a request of one rank, counting it, and comparing it with the others'.
const CoordinatorCost& coordinator_request();

/// Beside that, for each message.
struct CoordinatorCosts {
  CoordinatorCost received;
  CoordinatorCost sent;
};
const CoordinatorCosts& coordinator_past_the_kernel();
const CoordinatorCosts& coordinator_over_tcp();

}  // namespace farandole
