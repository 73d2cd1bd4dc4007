// The options of mpirun and mpiexec: those of Open MPI's mpirun(1) and of MPICH's and Intel's Hydra in one table. Where
// both have an option of one name, it has the same number of arguments in both.
#include <array>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {

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
