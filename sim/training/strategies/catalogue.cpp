#include "training/strategies/catalogue.hpp"

#include <vector>

namespace farandole {

std::span<const StrategyRow> strategies() {
  static const std::vector<StrategyRow> rows{
      {"horovod", "background cycle: negotiate announced tensors, fuse them, allreduce one fused buffer after another",
       "Settings of \"strategy\" in a scenario:\n"
       "  version            Horovod release whose defaults apply (default 0.21.0)\n"
       "  settings           pasted HOROVOD_* variables, as Horovod writes them\n"
       "  fusion_threshold   largest fused buffer, such as \"64 MiB\"; \"0 B\" switches fusion off\n"
       "  cycle_time         time between passes of the background thread, such as \"5 ms\"\n"
       "  coordinator_per_message  rank 0's work per tensor and rank while negotiating (default \"1 us\")\n"
       "  compression        \"none\"\n"
       "Defaults by version:\n"
       "  0.9.0   no fusion,  5 ms after each pass\n"
       "  0.9.3   64 MiB,     5 ms after each pass\n"
       "  0.13.8  64 MiB,     a pass every 5 ms, HOROVOD_CYCLE_TIME\n"
       "  0.16.0  the same, and fusion passes over tensors that do not fit\n"
       "  0.16.2  the same, and a response cache of 1024\n"
       "  0.21.0  128 MiB,    a pass every 1 ms\n"},
  };
  return rows;
}

}  // namespace farandole
