#include "engine/iteration.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace farandole { inline namespace engine {
namespace {

/// Counts by operation, too.
Seconds communicating_beside(std::span<const Busy> all, Seconds from, Seconds to, Iteration& result) {
  Seconds sum;
  Seconds covered = from;
  for (const Busy& busy : all) {
    if (busy.from >= to) break;
    const Seconds start = std::clamp(busy.from, covered, to);
    const Seconds end = std::clamp(busy.to, start, to);
    if (end > start) result.exposed[busy.operation] += end - start;
    sum += end - start;
    covered = std::max(covered, end);
  }
  return sum;
}

/// What computation stops for is what it waits for, whatever else is under way.
Seconds communicating_between(std::span<const Busy> all, Seconds from, Seconds to, Iteration& result) {
  const auto after = std::ranges::find_if(all, [&](const Busy& busy) { return busy.from >= to; });
  all = all.first(static_cast<std::size_t>(after - all.begin()));
  const auto stop = std::ranges::find_if(all, [&](const Busy& busy) { return busy.is_inside && busy.to > from; });
  if (stop == all.end()) return communicating_beside(all, from, to, result);
  const Seconds begin = std::clamp(stop->from, from, to);
  const Seconds end = std::clamp(stop->to, begin, to);
  (stop->is_between_stages ? result.exposed_between_stages : result.exposed_inside) += end - begin;
  return communicating_beside(all, from, begin, result) + (end - begin) + communicating_between(all, end, to, result);
}

/// How much of a stretch they cover. By their begin.
Seconds covered(std::span<const Busy> all, Seconds from, Seconds to) {
  Seconds sum;
  for (const Busy& each : all) {
    if (each.from >= to) break;
    const Seconds end = std::clamp(each.to, from, to);
    sum += end - std::clamp(each.from, from, end);
    from = end;
  }
  return sum;
}

}  // namespace

Iteration iteration_of(const IterationMoments& moments, std::span<const Busy> computed, std::span<const Busy> busy,
                       std::span<const Busy> negotiated) {
  Iteration result;
  result.duration = moments.end - moments.start;
  result.input = moments.fed - moments.start;
  result.compute_slowdown = moments.compute_slowdown;
  result.collectives = static_cast<int>(busy.size());
  std::vector<Busy> claimed;
  std::ranges::merge(busy, negotiated, std::back_inserter(claimed), {}, &Busy::from, &Busy::from);
  std::span<const Busy> either = claimed;
  const auto wait = [&](Seconds from, Seconds to) {
    for (auto* of : {&busy, &either}) {
      while (!of->empty() && of->front().to <= from) *of = of->subspan(1);  // waits are in order
    }
    if (to <= from) return;
    const Seconds communicating = communicating_between(busy, from, to, result);
    const Seconds negotiating = negotiated.empty() ? 0_s : covered(either, from, to) - communicating;
    result.exposed_communication += communicating;
    result.negotiation += negotiating;
    result.unclaimed += to - from - communicating - negotiating;
  };
  wait(moments.fed, computed.front().from);
  for (std::size_t i = 0; i < computed.size(); ++i) {
    result.computing += computed[i].to - computed[i].from;
    wait(computed[i].to, i + 1 < computed.size() ? computed[i + 1].from : moments.synchronised);
  }
  result.computing += moments.end - moments.synchronised;
  return result;
}

namespace {

bool same(Seconds a, Seconds b) {
  return std::abs((a - b).si()) <= 1e-9 * std::max(std::abs(a.si()), 1e-3);
}

/// Collects stretches from the end towards the start.
class Backwards {
 public:
  explicit Backwards(const IterationMoments& moments) : moments_(moments), at_(moments.end) {}

  [[nodiscard]] Seconds at() const { return at_; }

  void to(Seconds from, const char* activity) {
    from = std::clamp(from, moments_.start, at_);
    if (!same(from, at_)) steps_.push_back({activity, from - moments_.start, at_ - moments_.start});
    at_ = from;
  }

  std::vector<PathStep> finish() {
    std::ranges::reverse(steps_);
    return std::move(steps_);
  }

 private:
  const IterationMoments& moments_;
  Seconds at_;
  std::vector<PathStep> steps_;
};

/// The collective that ends at that moment, or null. Sorted by their ends.
const Stages* ending_at(const std::vector<Stages>& communications, Seconds moment) {
  auto found = std::ranges::lower_bound(communications, moment, {}, &Stages::end);
  while (found != communications.begin() && same(std::prev(found)->end, moment)) --found;
  return found == communications.end() || !same(found->end, moment) ? nullptr : &*found;
}

}  // namespace

std::vector<PathStep> critical_path(const IterationMoments& moments, std::span<const Busy> computed,
                                    std::span<const Stages> communications) {
  Backwards path(moments);
  std::vector<Stages> by_end(communications.begin(), communications.end());
  std::ranges::stable_sort(by_end, {}, &Stages::end);
  path.to(moments.synchronised, "update");
  const auto through_collectives = [&] {
    while (const Stages* last = ending_at(by_end, path.at())) {
      if (same(last->begin, path.at())) break;  // a collective without length says nothing
      path.to(last->reduced, "copy out");
      path.to(last->reducing, "collective");
      path.to(last->begin, "copy in");
    }
  };
  through_collectives();
  for (std::size_t i = computed.size(); i-- > 0;) {
    if (path.at() > computed[i].to) path.to(computed[i].to, "wait for the strategy");
    path.to(computed[i].from, "compute");
    // What a later computation waited for; the first one's wait has a name of its own.
    if (i > 0 && !same(computed[i - 1].to, path.at())) through_collectives();
  }
  path.to(moments.fed, "collective before the forward pass");
  path.to(moments.start, "input");
  return path.finish();
}

}}  // namespace farandole::engine
