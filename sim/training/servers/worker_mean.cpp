#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "simulate/invariant.hpp"
#include "training/servers/server_run.hpp"

namespace farandole { inline namespace training {
namespace {

/// The share of an iteration that lies in a stretch of time.
double share_within(const WorkerIteration& iteration, Seconds from, Seconds to) {
  const Seconds length = iteration.end - iteration.start;
  const Seconds inside = std::min(iteration.end, to) - std::max(iteration.start, from);
  return length > Seconds(0) ? std::max(0.0, inside / length) : 0;
}

void check_sum(const Breakdown& parts, Seconds iteration) {
  if (std::abs(parts.total() / iteration - 1) < 1e-9) return;
  throw InvariantError(
      fmt::format("the breakdown sums to {} s, the iteration takes {} s", parts.total().si(), iteration.si()));
}

}  // namespace

WorkerMean mean_of_barriers(const std::vector<WorkerIteration>& finished, std::size_t groups, int warmup) {
  WorkerMean mean;
  const auto measured = static_cast<double>(finished.size() / groups) - warmup;
  for (auto i = static_cast<std::size_t>(warmup) * groups; i + groups <= finished.size(); i += groups) {
    const auto slowest =
        std::max_element(finished.begin() + static_cast<std::ptrdiff_t>(i),
                         finished.begin() + static_cast<std::ptrdiff_t>(i + groups), [](const auto& a, const auto& b) {
                           return a.computing + a.updating + a.fed < b.computing + b.updating + b.fed;
                         });
    const Seconds start = i == 0 ? Seconds(0) : finished[i - 1].end;
    mean.durations.push_back(finished[i + groups - 1].end - start);
    mean.iteration += mean.durations.back() / measured;
    mean.computing += slowest->computing / measured;
    mean.updating += slowest->updating / measured;
    mean.fed += slowest->fed / measured;
  }
  return mean;
}

WorkerMean mean_of_stretch(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers,
                           const ServerPlan& plan, const Measure& measure) {
  std::vector<int> done(workers.size(), 0);
  Seconds from;
  Seconds to;
  for (const WorkerIteration& iteration : finished) {
    const int number = ++done[static_cast<std::size_t>(iteration.group)];
    if (number == measure.warmup) from = std::max(from, iteration.end);
    if (number == measure.warmup + measure.iterations) to = std::max(to, iteration.end);
  }
  const std::vector<double> staleness = staleness_of(finished, workers, plan);
  constexpr double rounding = 1e-9;
  WorkerMean mean;
  double sum = 0;
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const WorkerIteration& iteration = finished[i];
    const int alike = workers[static_cast<std::size_t>(iteration.group)];
    const double within = share_within(iteration, from, to);
    if (within < rounding) continue;
    const double share = within * alike;
    sum += share;
    mean.durations.insert(mean.durations.end(), static_cast<std::size_t>(alike), iteration.end - iteration.start);
    mean.iteration += share * mean.durations.back();
    mean.computing += share * iteration.computing;
    mean.waited += share * iteration.waited;
    mean.fed += share * iteration.fed;
    mean.updating += share * iteration.updating;
    mean.staleness += share * staleness[i];
  }
  if (sum == 0) return mean;
  for (Seconds WorkerMean::*part :
       {&WorkerMean::iteration, &WorkerMean::computing, &WorkerMean::waited, &WorkerMean::fed, &WorkerMean::updating})
    mean.*part /= sum;
  mean.staleness /= sum;
  return mean;
}

Breakdown break_down(const WorkerMean& mean, const Job& job) {
  Breakdown parts;
  parts.compute = job.backward_end;  // servers update
  parts.input = mean.fed;
  parts.other = mean.updating;
  parts.straggler = mean.computing + mean.waited - job.backward_end;
  // A jittered device may be faster than nominal in the mean over few iterations.
  if (parts.straggler < Seconds(0)) {
    parts.compute += parts.straggler;
    parts.straggler = Seconds(0);
  }
  parts.exposed_communication =
      std::max(Seconds(0), mean.iteration - mean.computing - mean.waited - mean.fed - mean.updating);
  check_sum(parts, mean.iteration);
  return parts;
}

}}  // namespace farandole::training
