#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
namespace {

/// In even rounds even ranks meet the next one, in odd rounds the one before; odd ranks the other way round.
int neighbor(int rank, int round, int ranks) {
  return wrap(rank % 2 == round % 2 ? rank + 1 : rank - 1, ranks);
}

/// The pair of blocks that a rank sends in a round after the first: its own pair, then what came last.
int pair_sent(int rank, int round, int ranks) {
  const int own = rank - rank % 2;
  const int distance = round % 2 == 1 ? round - 1 : -round;
  return wrap(own + (rank % 2 == 0 ? distance : -distance), ranks);
}

}  // namespace

Schedule neighbor_exchange_allgather(const Shape& shape) {
  const int n = shape.ranks;
  Schedule schedule = blank(Operation::allgather, "neighbor_exchange", shape, n);
  if (n % 2 != 0) {
    if (n > 1) schedule.phases = {ring_allgather_phase(n)};
    return schedule;
  }
  for (int round = 0; round < n / 2; ++round) {
    Phase phase{"exchange", {}};
    for (int rank = 0; rank < n; ++rank) {
      const int block = round == 0 ? rank : pair_sent(rank, round, n);
      phase.transfers.push_back({rank, neighbor(rank, round, n), block, Action::copy, round == 0 ? 1 : 2});
    }
    schedule.phases.push_back(std::move(phase));
  }
  return schedule;
}

}}  // namespace farandole::collective
