// The options of aprun, as aprun(1) of Cray's ALPS lists them.
#include <array>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {

std::span<const Option> aprun_options() {
  static constexpr std::array table = {
      Option{"n pes", 1, set_ranks},
      Option{"N pes-per-node", 1, set_ranks_per_node},
      Option{"e environment-override", 1, set_variable},
      Option{"b bypass-app-transfer B batch-args C reconnect q quiet ss strict-memory-containment T sync-output v "
             "verbose V version h help",
             0, ignore},
      Option{"a architecture d cpus-per-pe cc cpu-binding cp cpu-binding-file D debug E environment-file F "
             "access-mode j cpus-per-cu L node-list l node-list-file m memory-per-pe M mpmd-env p "
             "protection-domain P pipes r specialized-cpus R relaunch S pes-per-numa-node sl numa-node-list sn "
             "numa-nodes-per-node t cpu-time-limit z zone-sort-secs Z zone-sort w ccl",
             1, ignore},
  };
  return table;
}

}}}  // namespace farandole::platform::launch
