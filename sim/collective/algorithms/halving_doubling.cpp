#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/folded_ranks.hpp"

namespace farandole { inline namespace collective {

Schedule halving_doubling_allreduce(const Shape& shape) {
  const FoldedRanks folded(shape.ranks);
  Schedule schedule = blank(Operation::allreduce, "halving_doubling", shape, folded.members());
  folded.fold(schedule.phases, {0, 0, 0, Action::reduce, folded.members()});
  folded.halve(schedule.phases, FoldedRanks::Blocks::of_members);
  folded.double_up(schedule.phases, FoldedRanks::Blocks::of_members);
  folded.unfold(schedule.phases, {0, 0, 0, Action::copy, folded.members()});
  return schedule;
}

Schedule doubling_halving_allreduce(const Shape& shape) {
  const FoldedRanks folded(shape.ranks);
  Schedule schedule = blank(Operation::allreduce, "doubling_halving", shape, folded.members());
  folded.fold(schedule.phases, {0, 0, 0, Action::reduce, folded.members()});
  folded.halve_nearest_first(schedule.phases, FoldedRanks::Blocks::of_members);
  folded.double_farthest_first(schedule.phases);
  folded.unfold(schedule.phases, {0, 0, 0, Action::copy, folded.members()});
  return schedule;
}

Schedule doubling_halving_split_allreduce(const Shape& shape) {
  const FoldedRanks folded(shape.ranks, FoldedRanks::Stays::even);
  Schedule schedule = blank(Operation::allreduce, "doubling_halving_split", shape, folded.members());
  folded.fold_by_halves(schedule.phases);
  folded.halve_nearest_first(schedule.phases, FoldedRanks::Blocks::of_members);
  folded.double_farthest_first(schedule.phases);
  folded.unfold(schedule.phases, {0, 0, 0, Action::copy, folded.members()});
  return schedule;
}

Schedule recursive_halving_reduce_scatter(const Shape& shape) {
  const FoldedRanks folded(shape.ranks);
  Schedule schedule = blank(Operation::reduce_scatter, "recursive_halving", shape, shape.ranks);
  folded.fold(schedule.phases, {0, 0, 0, Action::reduce, shape.ranks});
  folded.halve(schedule.phases, FoldedRanks::Blocks::of_ranks);
  folded.unfold(schedule.phases, {});
  if (folded.extra() > 0) {
    for (Transfer& transfer : schedule.phases.back().transfers) transfer.chunk = transfer.to;
  }
  return schedule;
}

}}  // namespace farandole::collective
