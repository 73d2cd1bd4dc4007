#include "collective/bus_factor.hpp"

#include <algorithm>

namespace farandole { inline namespace collective {
double bus_factor(const Schedule& schedule, double largest_share) {
  const int workers = schedule.ranks - schedule.first_worker;
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
    case Operation::parameter_server:  // what the busiest sends: its sums to every worker, and its part to others
      return schedule.first_worker > 0 ? std::max(workers * largest_share, 1.0)
                                       : (workers - 1) * largest_share + 1 - largest_share;
  }
  return 1;
}

}}  // namespace farandole::collective
