#include "engine/iteration.hpp"

#include <algorithm>

namespace farandole::inline engine {
namespace {

/// Counts `by` operation, too.
Seconds communicating_between(std::span<const Busy> all, Seconds from, Seconds to, std::map<Operation, Seconds>& by) {
  Seconds sum;
  Seconds covered = from;
  for (const Busy& busy : all) {
    const Seconds start = std::clamp(busy.from, covered, to);
    const Seconds end = std::clamp(busy.to, start, to);
    if (end > start) by[busy.operation] += end - start;
    sum += end - start;
    covered = std::max(covered, end);
  }
  return sum;
}

}  // namespace

Iteration iteration_of(const IterationMoments& moments, std::span<const Busy> computed, std::span<const Busy> busy) {
  Iteration result;
  result.duration = moments.end - moments.start;
  result.input = moments.fed - moments.start;
  result.compute_slowdown = moments.compute_slowdown;
  result.collectives = static_cast<int>(busy.size());
  const auto wait = [&](Seconds from, Seconds to) {
    if (to <= from) return;
    const Seconds communicating = communicating_between(busy, from, to, result.exposed);
    result.exposed_communication += communicating;
    result.negotiation += to - from - communicating;
  };
  wait(moments.fed, computed.front().from);
  for (std::size_t i = 0; i < computed.size(); ++i) {
    result.computing += computed[i].to - computed[i].from;
    wait(computed[i].to, i + 1 < computed.size() ? computed[i + 1].from : moments.synchronised);
  }
  result.computing += moments.end - moments.synchronised;
  return result;
}

}  // namespace farandole::inline engine
