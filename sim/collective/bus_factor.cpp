#include "collective/bus_factor.hpp"

#include <algorithm>

namespace farandole { inline namespace collective {
namespace {

/// What the busiest parameter server sends: its sums to every worker, and what it contributes to others.
double bus_factor_of_servers(const Schedule& schedule, double share) {
  const int workers = schedule.ranks - schedule.first_worker;
  return schedule.first_worker > 0 ? std::max(workers * share, 1.0) : (workers - 1) * share + 1 - share;
}

}  // namespace

double bus_factor(const Schedule& schedule, double largest_share) {
  const double others = static_cast<double>(schedule.ranks - 1) / schedule.ranks;
  switch (schedule.operation) {
    case Operation::allreduce:
      return 2 * others;
    case Operation::reduce_scatter:
    case Operation::allgather:
    case Operation::alltoall:
    case Operation::gather:
    case Operation::scatter:
      return others;
    case Operation::broadcast:
    case Operation::reduce:
      return 1;
    case Operation::barrier:
      return 0;
    case Operation::parameter_server:
      return bus_factor_of_servers(schedule, largest_share);
  }
  return 1;
}

}}  // namespace farandole::collective
