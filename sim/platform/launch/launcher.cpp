#include <algorithm>
#include <array>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {
std::string Given::text() const {
  std::string text = name;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
  return text;
}

std::span<const Launcher> launchers() {
  static const std::array<Launcher, 3> table{{
      {"horovodrun", "horovodrun", horovodrun_options()},
      {"mpirun",
       "mpirun mpiexec mpiexec.hydra mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.mpich orterun prterun",
       mpirun_options()},
      {"aprun", "aprun", aprun_options(), true},
  }};
  return table;
}

bool is_among(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const auto end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

// The options of aprun, as aprun(1) of Cray's ALPS lists them.

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

// The options of horovodrun, as `horovodrun --help` of Horovod 0.28 and before lists them.

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

// The options of mpirun and mpiexec: those of Open MPI's mpirun(1) and of MPICH's and Intel's Hydra in one table. Where
// both have an option of one name, it has the same number of arguments in both.

std::span<const Option> mpirun_options() {
  static constexpr std::array table = {
      Option{"np n c", 1, set_ranks},
      Option{"H host hosts", 1, add_hosts},
      Option{"N npernode ppn perhost", 1, set_ranks_per_node},
      Option{"pernode", 0, set_one_rank_per_node},
      Option{"map-by", 1, set_mapping},
      Option{"bynode rr", 0, set_by_node},
      Option{"x", 1, set_variable},
      Option{"env genv", 2, set_variable},
      Option{"npersocket rankfile rf configfile app", 1, refuse},
      // Open MPI
      Option{"allow-run-as-root oversubscribe nooversubscribe use-hwthread-cpus report-bindings display-map "
             "display-devel-map display-allocation display-devel-allocation display-topo tag-output timestamp-output "
             "merge-stderr-to-stdout q quiet v verbose V version h help byslot byboard bycore bysocket bind-to-none "
             "bind-to-core bind-to-socket bind-to-board nolocal novm noprefix s preload-binary "
             "leave-session-attached debug debug-daemons debug-daemons-file d debug-devel tv enable-recovery "
             "disable-recovery continuous do-not-launch do-not-resolve report-child-jobs-separately show-progress "
             "index-argv-by-rank xml staged enable-instant-on-support set-cwd-to-session-dir no-local "
             "output-proctable parseable parsable stop-on-exec stop-in-init stop-in-app get-stack-traces",
             0, ignore},
      Option{"hostfile machinefile default-hostfile prefix path wd wdir bind-to rank-by slot-list cpu-set cpu-list "
             "cpus-per-proc cpus-per-rank am tune output-filename output display runtime-options xterm timeout stdin "
             "ompi-server server-wait-time report-events report-pid report-uri report-state-on-timeout "
             "preload-files forward-signals personality tmpdir launch-agent max-restarts num-coordinators rmaps "
             "xml-file hnp dvm uri with-ft cartofile",
             1, ignore},
      Option{"mca gmca omca gomca pmca gpmca pmixmca gpmixmca prtemca", 2, ignore},
      // Hydra
      Option{"genvall genvnone envall envnone l prepend-rank info print-all-exitcodes print-rank-map profile "
             "disable-auto-cleanup disable-hostname-propagation enable-x disable-x dac cleanup nolocal",
             0, ignore},
      Option{"f genvlist envlist gwdir launcher launcher-exec bootstrap bootstrap-exec iface rmk prepend-pattern p "
             "outfile-pattern errfile-pattern umask order-nodes localhost usize demux membind topolib nameserver port "
             "arch soft",
             1, ignore},
  };
  return table;
}

}}}  // namespace farandole::platform::launch
