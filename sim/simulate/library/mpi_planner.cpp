#include <string_view>
#include <utility>

#include "collective/algorithms.hpp"
#include "simulate/library/mpi_decision.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {
namespace {

using Choose = std::string (*)(Operation operation, int ranks, Bytes size);

/// "openmpi" of "openmpi-4".
std::string_view family_of(std::string_view library) {
  return library.substr(0, library.find('-'));
}

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

Library library(const char* name, const char* summary, Choose choose) {
  using enum Operation;
  return {name,
          summary,
          {allreduce, reduce_scatter, allgather, broadcast, reduce, alltoall},
          DeviceStack::none,
          [choose, library = std::string(name)](const LibraryJob& job) {
            const Seconds launch = mpi_transport(library, job.platform).launch;
            return LibraryPlanner{{}, [=](Bytes size) {
                                    const auto ranks = static_cast<int>(job.placement.device_of_rank.size());
                                    const std::string algorithm = choose(job.operation, ranks, size);
                                    return LibraryPlan{{algorithm, "", 1}, launch, algorithm, [=] {
                                                         return route_mpi(job, library, algorithm);
                                                       }};
                                  }};
          },
          {},
          {},
          {},
          true};
}

}  // namespace

Transport mpi_transport(const std::string& library, const Platform& platform) {
  if (!platform.mpi) return platform.transport;
  Transport transport = *platform.mpi;
  if (family_of(library) != family_of(transport.library)) transport.handshakes.reset();
  return transport;
}

std::vector<Library> mpi_libraries() {
  return {library("openmpi-4", "what Open MPI 4.1's fixed decisions pick", openmpi_choice),
          library("mpich", "what MPICH 4's default selection picks", mpich_choice),
          library("mpich-3", "what MPICH 3.2 picks, from which Cray MPICH 7 was made", mpich_3_choice)};
}

}}  // namespace farandole::simulate
