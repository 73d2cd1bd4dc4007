#include "simulate/critical_path.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace farandole {
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

/// The collective that ends at that moment, or null.
const CommunicationTimes* ending_at(std::span<const CommunicationTimes> communications, Seconds moment) {
  const auto found =
      std::ranges::find_if(communications, [&](const CommunicationTimes& c) { return same(latest(c.end), moment); });
  return found == communications.end() ? nullptr : &*found;
}

}  // namespace

std::vector<PathStep> critical_path(const IterationMoments& moments,
                                    std::span<const CommunicationTimes> communications) {
  Backwards path(moments);
  path.to(moments.synchronised, "update");
  while (const CommunicationTimes* last = ending_at(communications, path.at())) {
    if (same(latest(last->begin), path.at())) break;  // a collective without length says nothing
    path.to(latest(last->reduced), "copy out");
    path.to(latest(last->reducing), "collective");
    path.to(latest(last->begin), "copy in");
  }
  if (path.at() > moments.compute_end) path.to(moments.compute_end, "wait for the strategy");
  path.to(moments.compute_begin, "compute");
  path.to(moments.fed, "collective before the forward pass");
  path.to(moments.start, "input");
  return path.finish();
}

}  // namespace farandole
