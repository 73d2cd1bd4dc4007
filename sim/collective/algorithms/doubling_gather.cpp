#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "collective/algorithms/folded_ranks.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Members that agree with the root's in all bits above `distance` and differ in that one send what they hold.
Phase doubling_gather_phase(const FoldedRanks& folded, int distance, int root_member, int root) {
  Phase phase{"gather", {}};
  for (int member = 0; member < folded.members(); ++member) {
    if ((member ^ root_member) / distance != 1) continue;
    const int partner = member ^ distance;
    const FoldedRanks::Window part = folded.window(member, 2 * distance);
    const int to = partner == root_member ? root : folded.rank_of(partner);
    phase.transfers.push_back({folded.rank_of(member), to, part.first, Action::copy, part.count});
  }
  return phase;
}

}  // namespace

Schedule doubling_gather_reduce(const Shape& shape) {
  const FoldedRanks folded(shape.ranks, FoldedRanks::Stays::even);
  Schedule schedule = blank(Operation::reduce, "doubling_gather", shape, folded.members());
  folded.fold(schedule.phases, {0, 0, 0, Action::reduce, folded.members()});
  folded.halve_nearest_first(schedule.phases, FoldedRanks::Blocks::of_members);
  const bool stays = folded.is_member(shape.root);
  const int root_member = stays ? folded.member_of(shape.root) : 0;
  if (!stays) schedule.phases.push_back({"to_root", {{folded.rank_of(0), shape.root, 0, Action::copy}}});
  for (int distance = folded.members() / 2; distance >= 1; distance /= 2) {
    schedule.phases.push_back(doubling_gather_phase(folded, distance, root_member, shape.root));
  }
  return schedule;
}

}}  // namespace farandole::collective
