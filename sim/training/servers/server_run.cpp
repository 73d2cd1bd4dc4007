#include "training/servers/server_run.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "simulate/invariant.hpp"
#include "simulate/max_min_network.hpp"
#include "simulate/shared_links.hpp"
#include "units/mapped.hpp"

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
  [[nodiscard]] const Moment& operator[](std::ptrdiff_t moment) const { return moments_[as_index(moment)]; }

 private:
  void add(const WorkerIteration& iteration, const std::vector<int>& workers) {
    const auto group = as_index(iteration.group);
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

/// Of every iteration, in the order of `finished`, which is that of their ends; `workers`: of every group. Zero with a
/// barrier.
static std::vector<double> staleness_of(const std::vector<WorkerIteration>& finished, const std::vector<int>& workers,
                                        const ServerPlan& plan) {
  if (plan.mode == ServerMode::synchronous) return std::vector<double>(finished.size(), 0);
  const Moments moments(finished, workers);
  std::vector<int> done(workers.size(), 0);
  std::vector<double> staleness;
  for (const WorkerIteration& iteration : finished) {
    const int number = done[as_index(iteration.group)]++;
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

namespace {

/// Whether an iteration depends on its slowest worker alone: with a barrier, unless every worker is looked at.
bool is_bulk_synchronous(const ServerSite& site) {
  return site.plan.mode == ServerMode::synchronous &&
         (site.variability.is_uniform() || site.fidelity != Fidelity::message) && site.input == nullptr &&
         site.compute_share == 0;
}

/// Every worker on its own with max-min shares is for `message`.
std::unique_ptr<SharedNetwork> network_of(const ServerSite& site) {
  if (site.fidelity == Fidelity::analytic || (site.fidelity == Fidelity::flow && !is_bulk_synchronous(site))) {
    return std::make_unique<SharedLinks>();
  }
  return std::make_unique<MaxMinNetwork>();
}

/// Until the strategy has nothing more to do.
void run(Simulator& simulator, const ServerSite& site, const Layout& layout, ParameterServer& strategy) {
  SimulatedJob job(simulator, job_site(site, layout.network));
  job.tell([&](const Happening& happening) { strategy.on(job, happening); });
  if (site.input != nullptr) strategy.feed_from(site.input, first_ranks(layout.network));
  strategy.begin(job, {});
  simulator.run();
}

/// An iteration whose workers all compute as the slowest does, so many times slower than nominal.
WorkerIteration bulk_synchronous_iteration(const ServerSite& site, const Layout& layout, double factor,
                                           Timeline* timeline) {
  const RankTimes factors = RankTimes::Constant(static_cast<Eigen::Index>(layout.network.groups.size()), factor);
  ParameterServer strategy(
      site.job, site.plan, layout.shards, groups_of(site, layout),
      [&](int /*iteration*/) -> const RankTimes& { return factors; }, 1, timeline, site.slots);
  Simulator simulator(network_of(site));
  run(simulator, site, layout, strategy);
  WorkerIteration last = strategy.finished().back();
  for (const WorkerIteration& each : strategy.finished()) last.updating = std::max(last.updating, each.updating);
  return last;
}

/// Simulated for a few speeds of the slowest worker, and for those between them by straight lines.
WorkerMean mean_in_step(const ServerSite& site, const Layout& layout, const Measure& measure) {
  constexpr int speeds = 5;
  std::vector<double> slowest;
  for (int i = 0; i < measure.iterations; ++i) {
    slowest.push_back(site.variability.factors(measure.warmup + i).maxCoeff());
  }
  const auto [least, most] = std::ranges::minmax(slowest);
  const double step = (most - least) / (speeds - 1);
  std::vector<WorkerIteration> known;
  for (int i = 0; i < (step > 0 ? speeds : 1); ++i) {
    known.push_back(bulk_synchronous_iteration(site, layout, least + i * step, i == 0 ? site.timeline : nullptr));
  }
  WorkerMean mean;
  for (const double factor : slowest) {
    const double at = step > 0 ? (factor - least) / step : 0;
    const auto below = std::min(static_cast<std::size_t>(at), std::max<std::size_t>(known.size(), 2) - 2);
    const WorkerIteration& slow = known[below];
    const WorkerIteration& slower = known[std::min(below + 1, known.size() - 1)];
    const double share = at - static_cast<double>(below);
    mean.durations.push_back(slow.end + share * (slower.end - slow.end));
    mean.iteration += mean.durations.back() / measure.iterations;
    mean.updating += (slow.updating + share * (slower.updating - slow.updating)) / measure.iterations;
    mean.computing += site.job.backward_end * factor / measure.iterations;
  }
  return mean;
}

UpdateLog updates_in_step(const std::vector<WorkerIteration>& finished, std::size_t groups) {
  UpdateLog log;
  for (std::size_t last = groups - 1; last < finished.size(); last += groups) {
    log.push_back({finished[last].end, every_rank, static_cast<int>(log.size())});
  }
  return log;
}

/// Every worker is a group of its own.
UpdateLog updates_one_by_one(const std::vector<WorkerIteration>& finished) {
  UpdateLog log;
  for (const WorkerIteration& iteration : finished) {
    log.push_back(
        {iteration.end, iteration.group, static_cast<int>(log.size()) - static_cast<int>(iteration.staleness)});
  }
  return log;
}

/// Without a barrier workers of different groups drift apart and meet one after the other, each of a group at its own
/// moment; so those fold only where all are one group. So do those with batches of their own.
bool may_fold(const ServerSite& site) {
  if (site.folding != FoldingPolicy::where_exact || site.input != nullptr) return false;
  if (is_bulk_synchronous(site)) return true;
  if (!site.variability.is_uniform()) return false;
  return site.plan.mode == ServerMode::synchronous ||
         layout_of(site, site.placement, Carried::together).network.groups.size() == 1;
}

TrainingRun as_run(WorkerMean mean, const ServerSite& site, const ServerNetwork& network) {
  TrainingRun run;
  run.iteration = mean.iteration;
  run.durations = std::move(mean.durations);
  run.breakdown = break_down(mean, site.job);
  run.provenance.folded = network.servers < static_cast<int>(network.stands_for.size()) ||
                          std::ranges::any_of(network.groups, [](const auto& group) { return group.workers > 1; });
  run.mean_staleness = mean.staleness;
  return run;
}

}  // namespace

/// Of each group the factor of its slowest rank.
class GroupFactors {
 public:
  GroupFactors(const Variability& variability, const ServerNetwork& network)
      : variability_(variability), network_(network) {}

  const RankTimes& operator()(int iteration) {
    const auto [place, is_new] = of_iteration_.try_emplace(iteration);
    if (is_new) {
      const RankTimes ranks = variability_.factors(iteration);
      place->second = RankTimes::Zero(static_cast<Eigen::Index>(network_.groups.size()));
      for (std::size_t group = 0; group < network_.groups.size(); ++group) {
        double& slowest = place->second[static_cast<Eigen::Index>(group)];
        for (const int rank : network_.groups[group].ranks) slowest = std::max(slowest, ranks[rank]);
      }
    }
    return place->second;
  }

 private:
  const Variability& variability_;
  const ServerNetwork& network_;
  std::map<int, RankTimes> of_iteration_;
};

struct ServerTrainer::Parts {
  Parts(Simulator& on, const ServerSite& of, Carried carried, int iterations)
      : simulator(on),
        site(of),
        layout(layout_of(site, site.placement, carried)),
        factors(site.variability, layout.network),
        strategy(site.job, site.plan, layout.shards, groups_of(site, layout), std::ref(factors), iterations,
                 site.timeline, site.slots),
        job(on, job_site(site, layout.network)) {
    if (site.input != nullptr) strategy.feed_from(site.input, first_ranks(layout.network));
  }
  Simulator& simulator;
  ServerSite site;
  Layout layout;
  GroupFactors factors;
  ParameterServer strategy;
  SimulatedJob job;
};

ServerTrainer::ServerTrainer(Simulator& simulator, const ServerSite& site, Carried carried, int iterations)
    : parts_(std::make_unique<Parts>(simulator, site, carried, iterations)) {
  parts_->job.tell([this](const Happening& happening) {
    parts_->strategy.on(parts_->job, happening);
    if (halts_ && parts_->strategy.is_over()) parts_->simulator.halt();
  });
}

ServerTrainer::~ServerTrainer() = default;

void ServerTrainer::begin() {
  parts_->strategy.begin(parts_->job, {});
}

const std::vector<WorkerIteration>& ServerTrainer::finished() const {
  return parts_->strategy.finished();
}

TrainingRun ServerTrainer::condensed(const Measure& measure) const {
  const ServerNetwork& network = parts_->layout.network;
  const ServerPlan& plan = parts_->site.plan;
  return as_run(
      plan.mode == ServerMode::synchronous
          ? mean_of_barriers(finished(), network.groups.size(), measure.warmup)
          : mean_of_stretch(finished(), mapped(network.groups, &ServerNetwork::Group::workers), plan, measure),
      parts_->site, network);
}

int ServerTrainer::iterations() const {
  std::vector<int> ended(parts_->layout.network.groups.size(), 0);
  for (const WorkerIteration& iteration : finished()) ++ended[as_index(iteration.group)];
  return std::ranges::min(ended);
}

TrainingRun run_with_servers(const ServerSite& site, const Measure& measure) {
  const Carried carried = may_fold(site) ? Carried::together : Carried::apart;
  if (is_bulk_synchronous(site)) {
    const Layout layout = layout_of(site, site.placement, carried);
    return as_run(mean_in_step(site, layout, measure), site, layout.network);
  }
  Simulator simulator(network_of(site));
  ServerTrainer trainer(simulator, site, carried, measure.warmup + measure.iterations);
  trainer.begin();
  simulator.run();
  return trainer.condensed(measure);
}

Seconds iteration_of_one_worker(const ServerSite& site, double factor) {
  const std::vector<int> nodes = server_nodes_of(site.plan, site.platform, site.placement);
  const std::vector<int> profile = profiles_of(shards_of(site.job, site.plan, site.memory_bandwidth), nodes.size());
  Seconds best = Seconds::infinity();
  for (const int rank : ranks_apart(site.platform, site.placement, nodes, site.plan, profile)) {
    const Placement alone{{site.placement.device_of_rank[as_index(rank)]}, 1};
    best =
        std::min(best, bulk_synchronous_iteration(site, layout_of(site, alone, Carried::apart), factor, nullptr).end);
  }
  return best;
}

UpdateLog server_updates(const ServerSite& site, int iterations) {
  const bool waits = site.plan.mode == ServerMode::synchronous;
  const bool together = waits && site.variability.is_uniform() && site.input == nullptr;
  ServerSite quiet = site;
  quiet.timeline = nullptr;
  Simulator simulator(network_of(site));
  ServerTrainer trainer(simulator, quiet, together ? Carried::together : Carried::apart, iterations);
  trainer.begin();
  simulator.run();
  return updates_of(trainer, site.plan);
}

UpdateLog updates_of(const ServerTrainer& trainer, const ServerPlan& plan) {
  if (plan.mode != ServerMode::synchronous) return updates_one_by_one(trainer.finished());
  std::set<int> groups;
  for (const WorkerIteration& iteration : trainer.finished()) groups.insert(iteration.group);
  return updates_in_step(trainer.finished(), groups.size());
}

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
  for (auto i = as_index(warmup) * groups; i + groups <= finished.size(); i += groups) {
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
    const int number = ++done[as_index(iteration.group)];
    if (number == measure.warmup) from = std::max(from, iteration.end);
    if (number == measure.warmup + measure.iterations) to = std::max(to, iteration.end);
  }
  const std::vector<double> staleness = staleness_of(finished, workers, plan);
  constexpr double rounding = 1e-9;
  WorkerMean mean;
  double sum = 0;
  for (std::size_t i = 0; i < finished.size(); ++i) {
    const WorkerIteration& iteration = finished[i];
    const int alike = workers[as_index(iteration.group)];
    const double within = share_within(iteration, from, to);
    if (within < rounding) continue;
    const double share = within * alike;
    sum += share;
    mean.durations.insert(mean.durations.end(), as_index(alike), iteration.end - iteration.start);
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
