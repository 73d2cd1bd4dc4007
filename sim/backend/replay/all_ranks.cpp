#include <algorithm>

#include "backend/replay/replay.hpp"

namespace farandole { inline namespace backend {

Seconds last_of_all(Endpoint& endpoint, Seconds own) {
  return Seconds(std::ranges::max(endpoint.allgather_scalar(own.si())));
}

Iteration iteration_of_all(Endpoint& endpoint, const LocalIteration& own, Seconds before) {
  const auto last = [&](Seconds moment) { return last_of_all(endpoint, moment); };
  const IterationMoments moments{before, last(own.fed), last(own.synchronised), last(own.end)};
  std::vector<Busy> computed;
  for (const Busy& task : own.computed) computed.push_back({last(task.from), last(task.to)});
  std::vector<Busy> busy;
  for (const LocalTimes& times : own.communications) {
    busy.push_back({last(times.begin), last(times.end), times.operation});
  }
  std::ranges::stable_sort(busy, {}, &Busy::from);
  std::vector<Busy> negotiated;
  for (const Busy& each : own.negotiated) negotiated.push_back({last(each.from), last(each.to)});
  std::ranges::stable_sort(negotiated, {}, &Busy::from);
  return iteration_of(moments, computed, busy, negotiated);
}

}}  // namespace farandole::backend
