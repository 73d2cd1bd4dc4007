// The options of horovodrun, as `horovodrun --help` of Horovod 0.28 and before lists them.
#include <array>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {

std::span<const Option> horovodrun_options() {
  static constexpr std::array table = {
      Option{"np num-proc", 1, set_ranks},
      Option{"H host hosts", 1, add_hosts},
      Option{"fusion-threshold-mb", 1, set_mebibytes, "HOROVOD_FUSION_THRESHOLD"},
      Option{"cycle-time-ms", 1, set_number, "HOROVOD_CYCLE_TIME"},
      Option{"cache-capacity", 1, set_number, "HOROVOD_CACHE_CAPACITY"},
      Option{"timeline-filename", 1, set_text, "HOROVOD_TIMELINE"},
      Option{"timeline-mark-cycles", 0, set_on, "HOROVOD_TIMELINE_MARK_CYCLES"},
      Option{"no-timeline-mark-cycles", 0, set_off, "HOROVOD_TIMELINE_MARK_CYCLES"},
      Option{"hierarchical-allreduce", 0, set_on, "HOROVOD_HIERARCHICAL_ALLREDUCE"},
      Option{"no-hierarchical-allreduce", 0, set_off, "HOROVOD_HIERARCHICAL_ALLREDUCE"},
      Option{"hierarchical-allgather", 0, set_on, "HOROVOD_HIERARCHICAL_ALLGATHER"},
      Option{"no-hierarchical-allgather", 0, set_off, "HOROVOD_HIERARCHICAL_ALLGATHER"},
      Option{"num-nccl-streams", 1, set_number, "HOROVOD_NUM_NCCL_STREAMS"},
      Option{"gloo", 0, set_gloo, "HOROVOD_CONTROLLER"},
      Option{"v version cb check-build disable-cache verbose mpi jsrun tcp autotune no-autotune stall-check "
             "no-stall-check mpi-threads-disable no-mpi-threads-disable torch-nccl-async log-with-timestamp "
             "log-without-timestamp log-hide-timestamp no-log-hide-timestamp prefix-timestamp "
             "prefix-output-with-timestamp",
             0, ignore},
      Option{"p ssh-port i ssh-identity-file start-timeout network-interface network-interfaces output-filename "
             "config-file hostfile autotune-log-file autotune-warmup-samples autotune-steps-per-sample "
             "autotune-bayes-opt-max-samples autotune-gaussian-process-noise min-np min-num-proc max-np max-num-proc "
             "slots slots-per-host elastic-timeout reset-limit host-discovery-script "
             "stall-check-warning-time-seconds stall-check-shutdown-time-seconds mpi-args binding-args "
             "thread-affinity gloo-timeout-seconds log-level",
             1, ignore},
      Option{"blacklist-cooldown-range", 2, ignore},
  };
  return table;
}

}}}  // namespace farandole::platform::launch
