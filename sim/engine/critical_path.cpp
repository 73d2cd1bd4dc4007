#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "engine/iteration.hpp"

namespace farandole { inline namespace engine {
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
