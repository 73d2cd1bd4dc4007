#include "backend/replay/all_ranks.hpp"

#include <algorithm>

namespace farandole {

Seconds last_of_all(Endpoint& endpoint, Seconds own) {
  return Seconds(std::ranges::max(endpoint.everyones(own.si())));
}

Iteration iteration_of_all(Endpoint& endpoint, const LocalIteration& own, Seconds before) {
  const auto last = [&](Seconds moment) { return last_of_all(endpoint, moment); };
  IterationMoments moments;
  moments.start = before;
  moments.fed = last(own.fed);
  moments.compute_begin = last(own.compute_begin);
  moments.compute_end = last(own.compute_end);
  moments.synchronised = last(own.synchronised);
  moments.end = last(own.end);
  std::vector<Busy> busy;
  for (const LocalTimes& times : own.communications) busy.push_back({last(times.begin), last(times.end)});
  return iteration_of(moments, busy, Seconds(0));
}

}  // namespace farandole
