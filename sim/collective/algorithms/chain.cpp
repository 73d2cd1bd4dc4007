#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Segment after segment over n-1 hops, the first from rank `first`.
Phase chain(const Schedule& schedule, int first, Action action) {
  const auto segments = static_cast<int>(schedule.chunks);
  Phase phase{"chain", {}, repeats_of(Count(segments) + (schedule.ranks - 2)), 1};
  phase.window = segments;
  for (int hop = 0; hop + 1 < schedule.ranks; ++hop) {
    const int from = (first + hop) % schedule.ranks;
    phase.transfers.push_back({from, (from + 1) % schedule.ranks, 0, action, 1, hop});
  }
  return phase;
}

}  // namespace

Schedule chain_broadcast(const Shape& shape) {
  Schedule schedule = blank(Operation::broadcast, "chain", shape, shape.segments > 0 ? shape.segments : 8);
  if (shape.ranks > 1) schedule.phases.push_back(chain(schedule, shape.root, Action::copy));
  return schedule;
}

Schedule chain_reduce(const Shape& shape) {
  Schedule schedule = blank(Operation::reduce, "chain", shape, shape.segments > 0 ? shape.segments : 1);
  if (shape.ranks > 1) schedule.phases.push_back(chain(schedule, shape.root + 1, Action::reduce));
  return schedule;
}

}}  // namespace farandole::collective
