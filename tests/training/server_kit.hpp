// A job of two layers and parameter servers on a star, for schedules that can be worked out by hand.
#pragma once

#include "simulate/platform_kit.hpp"
#include "training/servers/server_run.hpp"

namespace farandole::test {

/// Two layers: forward 1 s and 2 s, backward 4 s and 3 s; 100 bytes in the first, 50 in the second.
inline Job two_layers() {
  Job job;
  job.gradients = {{"second", 50_B, 6_s, 6_s}, {"first", 100_B, 10_s, 10_s}};
  job.backward_end = 10_s;
  job.layers = {{1_s, 4_s}, {2_s, 3_s}};
  job.variables = {{"first", 100_B, 0, 1}, {"second", 50_B, 1, 0}};
  return job;
}

struct ServerBench {
  Job job = two_layers();
  ServerPlan plan{};
  int workers = 1;
  BytesPerSecond rate = 10_Bps;
  Seconds latency{};
  double slowdown = 0;  // of worker 0
  FoldingPolicy folding = FoldingPolicy::where_exact;
  BytesPerSecond memory = BytesPerSecond::infinity();
  int slots = 1;
  bool shares_processor = false;

  [[nodiscard]] TrainingRun run(Fidelity fidelity, int iterations = 3) const {
    const Platform platform = star(workers + (plan.colocated ? 0 : plan.servers), rate, latency);
    const Placement placement = in_order(workers);
    Variability variability(workers, 0, 0, 1);
    variability.slow_down(0, slowdown);
    return run_with_servers({job, plan, platform, placement, variability, BytesPerSecond::infinity(), fidelity, folding,
                             nullptr, memory, slots, shares_processor},
                            {iterations, 1});
  }
  [[nodiscard]] double seconds(Fidelity fidelity) const { return run(fidelity).iteration.si(); }
};

}  // namespace farandole::test
