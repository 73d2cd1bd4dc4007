#include <algorithm>
#include <array>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {

std::string Given::text() const {
  std::string text = name;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
  return text;
}

bool is_among(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    if (take_until(names, ' ') == name) return true;
  }
  return false;
}

namespace {

// The options of aprun, as aprun(1) of Cray's ALPS lists them.

constexpr std::array aprun_options = {
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

// The options of torchrun, as `torchrun --help` of PyTorch 2.8 and before lists them.

constexpr std::array torchrun_options = {
    Option{"nnodes", 1, set_nodes},
    Option{"nproc-per-node", 1, set_ranks_per_node},
    Option{"m module no-python run-path use-env standalone", 0, pass},
    Option{"h help virtual-local-rank", 0, ignore},
    Option{"rdzv-backend rdzv-endpoint rdzv-id rdzv-conf max-restarts monitor-interval start-method "
           "event-log-handler role log-dir r redirects t tee local-ranks-filter duplicate-stdout-filters "
           "duplicate-stderr-filters node-rank master-addr master-port local-addr logs-specs numa-binding "
           "signals-to-handle shutdown-timeout",
           1, ignore},
};

// The options of srun and sbatch, as their manual pages of Slurm 24.05 and before list them, and those of the plugin
// Pyxis.

constexpr std::array srun_options = {
    Option{"n ntasks tasks", 1, set_ranks},
    Option{"N nodes", 1, set_nodes},
    Option{"ntasks-per-node tasks-per-node", 1, set_ranks_per_node},
    Option{"gpus-per-node gres", 1, set_devices},
    Option{"w nodelist", 1, list_nodes},
    Option{"multi-prog ntasks-per-gpu", optional, refuse},
    Option{"Q quiet v vv vvv verbose V version h help H hold l label u unbuffered O overcommit E preserve-env overlap "
           "exact Z no-allocate X disable-status pty quit-on-interrupt spread-job use-min-nodes reboot contiguous "
           "whole external-launcher test-only send-libs parsable requeue no-requeue ignore-pbs "
           "container-mount-home no-container-mount-home container-writable container-readonly "
           "container-remap-root no-container-remap-root container-entrypoint no-container-entrypoint",
           0, ignore},
    Option{"bcast compress I immediate K kill-on-bad-exit k no-kill nice oversubscribe s exclusive propagate "
           "resv-ports x11 get-user-env wait-all-nodes",
           optional, ignore},
    Option{"A account accel-bind acctg-freq a array B extra-node-info b begin bb bbf c cpus-per-task C constraint "
           "cluster-constraint M clusters comment container container-id context core-spec S cores-per-socket "
           "cpu-bind cpu-freq cpus-per-gpu D chdir d dependency delay-boot deadline m distribution epilog e error "
           "x exclude export export-file extra gid gpu-bind gpu-freq G gpus gpus-per-socket gpus-per-task gres-flags "
           "hint het-group i input J job-name jobid kill-on-invalid-dep L licenses mail-type mail-user mcs-label mem "
           "mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network F nodefile ntasks-per-core "
           "ntasks-per-socket o output open-mode p partition power prefer priority profile prolog q qos r relative "
           "reservation segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog thread-spec T "
           "threads threads-per-core t time time-min tmp treewidth tres-bind tres-per-task uid usage W wait wckey "
           "container-image container-mounts container-workdir container-name container-save container-env",
           1, ignore},
};

// The options of `accelerate launch`, as commands/launch.py of accelerate 1.10 and before has them.

constexpr std::array accelerate_options = {
    Option{"num-processes", 1, set_ranks},
    Option{"num-machines", 1, set_nodes},
    Option{"config-file mixed-precision fp8-backend deepspeed-config-file zero-stage offload-optimizer-device "
           "offload-param-device gradient-accumulation-steps fsdp-sharding-strategy fsdp-reshard-after-forward "
           "fsdp-version fsdp-offload-params fsdp-backward-prefetch fsdp-backward-prefetch-policy "
           "fsdp-activation-checkpointing fsdp-auto-wrap-policy fsdp-min-num-params",
           1, keep},
    Option{"use-fsdp use-deepspeed use-megatron-lm use-parallelism-config", 0, keep},
    Option{"m module no-python", 0, pass},
    Option{"h help q quiet multi-gpu cpu tpu ipex use-xpu use-tp debug same-network enable-cpu-affinity "
           "dynamo-use-fullgraph dynamo-use-dynamic dynamo-use-regional-compilation tpu-cluster no-tpu-cluster "
           "tpu-use-sudo downcast-bf16",
           0, ignore},
    Option{"num-cpu-threads-per-process dynamo-backend dynamo-mode gpu-ids machine-rank main-process-ip "
           "main-process-port main-training-function t tee log-dir role rdzv-backend rdzv-conf max-restarts "
           "monitor-interval vm env offload-optimizer-nvme-path offload-param-nvme-path gradient-clipping "
           "zero3-init-flag zero3-save-16bit-model deepspeed-hostfile deepspeed-exclusion-filter "
           "deepspeed-inclusion-filter deepspeed-multinode-launcher deepspeed-moe-layer-cls-names "
           "fsdp-transformer-layer-cls-to-wrap fsdp-state-dict-type fsdp-forward-prefetch fsdp-use-orig-params "
           "fsdp-cpu-ram-efficient-loading fsdp-sync-module-states megatron-lm-tp-degree megatron-lm-pp-degree "
           "megatron-lm-num-micro-batches megatron-lm-sequence-parallelism megatron-lm-recompute-activations "
           "megatron-lm-use-distributed-optimizer megatron-lm-gradient-clipping mpirun-hostfile mpirun-ccl "
           "aws-access-key-id aws-secret-access-key",
           1, ignore},
};

// The options of deepspeed, as launcher/runner.py of DeepSpeed 0.18 and before has them.

constexpr std::array deepspeed_options = {
    Option{"num-nodes", 1, set_nodes},
    Option{"num-gpus num-accelerators", 1, set_ranks_per_node},
    Option{"i include", 1, add_included},
    Option{"H hostfile", 1, keep},
    Option{"e exclude", 1, refuse},
    Option{"module no-python", 0, pass},
    Option{"h help no-local-rank no-ssh no-ssh-check force-multi save-pid elastic-training bind-cores-to-rank", 0,
           ignore},
    Option{"min-elastic-nodes max-elastic-nodes master-port master-addr node-rank launcher launcher-args "
           "enable-each-rank-log autotuning comment account bind-core-list ssh-port venv-script",
           1, ignore},
};

// The options of horovodrun, as `horovodrun --help` of Horovod 0.28 and before lists them.

constexpr std::array horovodrun_options = {
    Option{"np num-proc", 1, set_ranks},
    Option{"H host hosts", 1, add_hosts},
    Option{"fusion-threshold-mb", 1, set_mebibytes, "HOROVOD_FUSION_THRESHOLD"},
    Option{"cycle-time-ms", 1, set_number, "HOROVOD_CYCLE_TIME"},
    Option{"cache-capacity", 1, set_number, "HOROVOD_CACHE_CAPACITY"},
    Option{"timeline-filename", 1, set_text, "HOROVOD_TIMELINE"},
    Option{"timeline-mark-cycles no-timeline-mark-cycles", 0, set_text, "HOROVOD_TIMELINE_MARK_CYCLES"},
    Option{"hierarchical-allreduce no-hierarchical-allreduce", 0, set_text, "HOROVOD_HIERARCHICAL_ALLREDUCE"},
    Option{"hierarchical-allgather no-hierarchical-allgather", 0, set_text, "HOROVOD_HIERARCHICAL_ALLGATHER"},
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

// The options of mpirun and mpiexec: those of Open MPI's mpirun(1) and of MPICH's and Intel's Hydra in one table. Where
// both have an option of one name, it has the same number of arguments in both.

constexpr std::array mpirun_options = {
    Option{"np n c", 1, set_ranks},
    Option{"H host hosts", 1, add_hosts},
    Option{"N npernode ppn perhost", 1, set_ranks_per_node},
    Option{"pernode", 0, set_ranks_per_node},
    Option{"map-by", 1, set_mapping},
    Option{"bynode rr", 0, set_mapping},
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
           "arch soft depth cpu-bind gpu-bind mem-bind",
           1, ignore},
};

}  // namespace

std::span<const Launcher> launchers() {
  static const std::array<Launcher, 7> table{{
      {"srun", "srun", srun_options, "-n", settle_slurm, true},
      {"torchrun", "torchrun torch.distributed.run torch.distributed.launch", torchrun_options, "--nproc-per-node",
       settle_torchrun},
      {"accelerate", "accelerate accelerate.commands.launch", accelerate_options, "--num_processes", settle_accelerate},
      {"deepspeed", "deepspeed deepspeed.launcher.runner", deepspeed_options, "--num_gpus", settle_deepspeed},
      {"horovodrun", "horovodrun", horovodrun_options, "-np", settle_mpi},
      {"mpirun",
       "mpirun mpiexec mpiexec.hydra mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.mpich orterun prterun",
       mpirun_options, "-np", settle_mpi},
      {"aprun", "aprun", aprun_options, "-n", settle_mpi, true},
  }};
  return table;
}

const Launcher& srun() {
  return launchers().front();
}

}}}  // namespace farandole::platform::launch
