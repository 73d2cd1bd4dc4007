#include <algorithm>
#include <map>

#include "training/servers/server_run.hpp"

namespace farandole { inline namespace training {
namespace {

/// Iterations that end at the same moment.
struct Moment {
  Seconds at;
  double before = 0;   // updates until then
  double updates = 0;  // at that moment
  int slowest = 0;     // iterations that every group has behind it before
};

class Moments {
 public:
  Moments(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers)
      : equal_(1e-9 * (finished.empty() ? 0_s : finished.back().end) * static_cast<double>(workers.size()) /
               static_cast<double>(std::max<std::size_t>(finished.size(), 1))),
        done_(workers.size(), 0) {
    behind_[0] = static_cast<int>(workers.size());
    for (const WorkerIteration& iteration : finished) add(iteration, workers);
  }

  /// The last moment that is not after `at`; -1: none.
  [[nodiscard]] std::ptrdiff_t until(Seconds at) const {
    const auto after = std::ranges::upper_bound(moments_, at + equal_, {}, &Moment::at);
    return after - moments_.begin() - 1;
  }
  [[nodiscard]] bool is_at(std::ptrdiff_t moment, Seconds at) const {
    return moment >= 0 && at - (*this)[moment].at <= equal_;
  }
  [[nodiscard]] const Moment& operator[](std::ptrdiff_t moment) const {
    return moments_[static_cast<std::size_t>(moment)];
  }

 private:
  void add(const WorkerIteration& iteration, const std::vector<int>& workers) {
    const auto group = static_cast<std::size_t>(iteration.group);
    if (moments_.empty() || iteration.end - moments_.back().at > equal_) {
      const double before = moments_.empty() ? 0 : moments_.back().before + moments_.back().updates;
      moments_.push_back({iteration.end, before, 0, behind_.begin()->first});
    }
    moments_.back().updates += workers[group];
    const auto place = behind_.find(done_[group]);
    if (--place->second == 0) behind_.erase(place);
    ++behind_[++done_[group]];
  }

  Seconds equal_;
  std::vector<Moment> moments_;
  std::vector<int> done_;      // iterations of every group
  std::map<int, int> behind_;  // how many groups have so many iterations behind them
};

}  // namespace

std::vector<double> staleness_of(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers,
                                 const ServerPlan& plan) {
  if (plan.mode == ServerMode::synchronous) return std::vector<double>(finished.size(), 0);
  const Moments moments(finished, workers);
  std::vector<int> done(workers.size(), 0);
  std::vector<double> staleness;
  for (const WorkerIteration& iteration : finished) {
    const int number = done[static_cast<std::size_t>(iteration.group)]++;
    const Seconds start = iteration.start + iteration.waited + iteration.fed;
    const std::ptrdiff_t first = moments.until(start);
    const Moment& last = moments[moments.until(iteration.end)];
    double others = last.before + (last.updates - 1) / 2;
    if (first >= 0) others -= moments[first].before + moments[first].updates;
    const bool had_to_wait =
        plan.mode == ServerMode::stale_synchronous && first >= 0 && number > moments[first].slowest + plan.bound;
    if (number > 0 && moments.is_at(first, start) && !had_to_wait) others += (moments[first].updates - 1) / 2;
    staleness.push_back(others);
  }
  return staleness;
}

}}  // namespace farandole::training
