#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/folded_ranks.hpp"

namespace farandole { inline namespace collective {
namespace {

void append_unless_empty(std::vector<Phase>& phases, Phase phase) {
  if (!phase.transfers.empty()) phases.push_back(std::move(phase));
}

/// Each member's block to the ranks it belongs to: first to those that are no members.
void bring_home(const FoldedRanks& folded, std::vector<Phase>& phases) {
  Phase to_folded{"unfold", {}};
  Phase to_members{"permute", {}};
  for (int member = 0; member < folded.members(); ++member) {
    const int owner = folded.window(member, folded.members()).first;
    const int home = folded.rank_of(owner);
    const int from = folded.rank_of(member);
    if (owner < folded.extra()) to_folded.transfers.push_back({from, home - 1, home - 1});
    if (owner != member) to_members.transfers.push_back({from, home, home});
  }
  append_unless_empty(phases, std::move(to_folded));
  append_unless_empty(phases, std::move(to_members));
}

}  // namespace

Schedule butterfly_reduce_scatter(const Shape& shape) {
  const FoldedRanks folded(shape.ranks);
  Schedule schedule = blank(Operation::reduce_scatter, "butterfly", shape, shape.ranks);
  folded.fold(schedule.phases, {0, 0, 0, Action::reduce, shape.ranks});
  folded.halve_nearest_first(schedule.phases, FoldedRanks::Blocks::of_ranks);
  bring_home(folded, schedule.phases);
  return schedule;
}

}}  // namespace farandole::collective
