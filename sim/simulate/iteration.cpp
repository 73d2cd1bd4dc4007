#include "simulate/iteration.hpp"

#include <algorithm>

namespace farandole {
namespace {

Seconds communicating_between(std::span<const Busy> all, Seconds from, Seconds to) {
  Seconds sum;
  Seconds covered = from;
  for (const Busy& busy : all) {  // in order: the communication stream is serial
    const Seconds start = std::clamp(busy.from, covered, to);
    const Seconds end = std::clamp(busy.to, start, to);
    sum += end - start;
    covered = std::max(covered, end);
  }
  return sum;
}

}  // namespace

Iteration iteration_of(const IterationMoments& moments, std::span<const Busy> busy, Seconds stolen) {
  const Seconds waited = moments.synchronised - moments.compute_end;
  const Seconds communicating = communicating_between(busy, moments.compute_end, moments.synchronised);
  const Seconds waited_before = moments.compute_begin - moments.fed;  // what the forward pass had to wait for
  Iteration result;
  result.duration = moments.end - moments.start;
  result.exposed_communication = waited_before + communicating;
  result.negotiation = waited - communicating;
  result.input = moments.fed - moments.start;
  result.stolen = stolen;
  result.collectives = static_cast<int>(busy.size());
  return result;
}

}  // namespace farandole
