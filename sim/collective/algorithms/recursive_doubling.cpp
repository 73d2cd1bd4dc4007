#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/folded_ranks.hpp"

namespace farandole { inline namespace collective {
namespace {

Phase exchange_all(const FoldedRanks& folded, int distance) {
  Phase phase{"exchange", {}};
  for (int member = 0; member < folded.members(); ++member) {
    phase.transfers.push_back({folded.rank_of(member), folded.rank_of(member ^ distance), 0, Action::reduce});
  }
  return phase;
}

}  // namespace

Schedule recursive_doubling_allreduce(const Shape& shape) {
  Schedule schedule = blank(Operation::allreduce, "recursive_doubling", shape, 1);
  const FoldedRanks folded(shape.ranks);
  folded.fold(schedule.phases, {0, 0, 0, Action::reduce});
  for (int distance = 1; distance < folded.members(); distance *= 2) {
    schedule.phases.push_back(exchange_all(folded, distance));
  }
  folded.unfold(schedule.phases, {0, 0, 0, Action::copy});
  return schedule;
}

Schedule recursive_doubling_allgather(const Shape& shape) {
  Schedule schedule = blank(Operation::allgather, "recursive_doubling", shape, shape.ranks);
  const FoldedRanks folded(shape.ranks);
  folded.fold(schedule.phases, {});
  if (folded.extra() > 0) {
    auto& fold = schedule.phases.back().transfers;
    for (Transfer& transfer : fold) transfer.chunk = transfer.from;
  }
  folded.double_up(schedule.phases, FoldedRanks::Blocks::of_ranks);
  folded.unfold(schedule.phases, {0, 0, 0, Action::copy, shape.ranks - 1});
  if (folded.extra() > 0) {
    // All blocks but the one it gave.
    for (Transfer& transfer : schedule.phases.back().transfers) transfer.chunk = transfer.from;
  }
  return schedule;
}

}}  // namespace farandole::collective
