#include <memory>
#include <utility>

#include "collective/algorithms.hpp"
#include "platform/mpi_transport.hpp"
#include "simulate/library/mpi_decision.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {
namespace {

RoutedSchedule route_mpi(const LibraryJob& job, const std::string& library, const std::string& algorithm) {
  Shape shape(static_cast<int>(job.placement.device_of_rank.size()), job.root);
  shape.ranks_per_node = job.placement.ranks_per_node(job.platform.devices_per_node);
  shape.segments = 1;  // neither library asks for segments
  Schedule schedule = find_algorithm(job.operation, algorithm)->build(shape);
  if (!job.platform.mpi) return {std::move(schedule), job.platform, job.placement};
  Platform platform = job.platform;
  platform.transport = mpi_transport(library, job.platform);
  return {std::move(schedule), platform, job.placement};
}

}  // namespace

Transport mpi_transport(const std::string& library, const Platform& platform) {
  if (!platform.mpi) return platform.transport;
  Transport transport = *platform.mpi;
  if (library_family(library) != library_family(transport.library)) transport.handshakes.reset();
  return transport;
}

void add_mpi(Section& section, Library& library) {
  const bool by_openmpi = library_family(library.name) == "openmpi";
  auto decisions = std::make_shared<const MpiDecisions>(read_mpi_decisions(section, library.operations, by_openmpi));
  library.mpi = decisions;
  library.planner = [decisions, name = library.name](const LibraryJob& job) {
    const Seconds launch = mpi_transport(name, job.platform).launch;
    return LibraryPlanner{
        {}, [=](Bytes size) {
          const auto ranks = static_cast<int>(job.placement.device_of_rank.size());
          const std::string algorithm = mpi_choice(*decisions, job.operation, ranks, size);
          return LibraryPlan{{algorithm, "", 1}, launch, algorithm, [=] { return route_mpi(job, name, algorithm); }};
        }};
  };
}

}}  // namespace farandole::simulate
