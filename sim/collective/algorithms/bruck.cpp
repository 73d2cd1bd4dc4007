#include <algorithm>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"

namespace farandole { inline namespace collective {
namespace {

Phase bruck_phase(int ranks, int distance) {
  Phase phase{"allgather", {}};
  for (int rank = 0; rank < ranks; ++rank) {
    const int held = std::min(distance, ranks - distance);
    phase.transfers.push_back({rank, wrap(rank - distance, ranks), rank, Action::copy, held});
  }
  return phase;
}

/// What rank r passes on: the block from r - (what it has travelled) to r + (what is left), for every distance with
/// that bit.
Phase pass_on_at(int ranks, int distance) {
  Phase phase{"pass_on", {}};
  for (int total = 1; total < ranks; ++total) {
    if ((total & distance) == 0) continue;
    const int travelled = total & (distance - 1);
    phase.bundle.push_back({-travelled, total - travelled});
  }
  for (int rank = 0; rank < ranks; ++rank) {
    phase.transfers.push_back({rank, (rank + distance) % ranks, Chunk(rank) * ranks + rank, Action::copy});
  }
  return phase;
}

}  // namespace

Schedule bruck_allgather(const Shape& shape) {
  Schedule schedule = blank(Operation::allgather, "bruck", shape, shape.ranks);
  for (int distance = 1; distance < shape.ranks; distance *= 2) {
    schedule.phases.push_back(bruck_phase(shape.ranks, distance));
  }
  return schedule;
}

Schedule bruck_alltoall(const Shape& shape) {
  Schedule schedule = blank(Operation::alltoall, "bruck", shape, Chunk(shape.ranks) * shape.ranks, shape.ranks);
  for (int distance = 1; distance < shape.ranks; distance *= 2) {
    schedule.phases.push_back(pass_on_at(shape.ranks, distance));
  }
  return schedule;
}

}}  // namespace farandole::collective
