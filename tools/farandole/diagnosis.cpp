#include "diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "command.hpp"
#include "config/section.hpp"
#include "likelihood.hpp"
#include "question_answer.hpp"
#include "report/table.hpp"
#include "scenario/anchor.hpp"
#include "scenario/collective_run.hpp"
#include "scenario/sweep.hpp"
#include "study/study.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

constexpr double prior_of_healthy = 0.5;  // assumed
// Of published tables of several nodes above 16 MiB, nothing fitted (docs/accuracy): median 8 %, the 90th
// percentile 25.
constexpr double scale_of_allreduces = 0.11;
constexpr double scale_of_transfers = 0.1;  // assumed: what ib_write_bw and nvbandwidth get of the rate in a file
constexpr double scale_of_kernels = 0.03;   // beside the error of compute times; assumed: gaps and small kernels
constexpr double least_error = 0.01;        // from run to run of one job
constexpr double hardly = 16;               // squares of errors in scales: 1 % of that distribution is beyond
constexpr double settled = 0.95;            // that likely a cause needs no further measurement
constexpr double shows = 0.02;              // a suspect that changes no measurement by more explains none
constexpr double tells = 1;                 // scales that two predictions are apart, from which on one tells
constexpr std::size_t most_told_apart = 5;  // hypotheses, the first with each other
constexpr std::size_t most_links_kept = 50'000;

/// The scales of errors of a time where nothing is wrong.
struct ErrorScale {
  double own = 0;
  double shared = 0;
};

/// Of an 80 % interval.
double scale_of_factors(const Interval& factors) {
  return std::abs(std::log(factors.high / factors.low)) / 2 / band_in_scales;
}

ErrorScale scales_of(const TrainingPoint& point) {
  ErrorScale scale;
  if (!point.bands) return {least_error, 0};  // measured, or the same for everybody
  double others = least_error * least_error;
  for (const BandSource& source : point.bands->sources) {
    const double one = scale_of_factors(source.iteration);
    if (source.of == of_compute_time)
      scale.shared = std::hypot(scale.shared, one);
    else
      others += one * one;
  }
  scale.own = std::sqrt(others);
  return scale;
}

/// What is run for a step.
struct StepKind {
  int ranks = 1;
  bool is_synthetic = false;  // without the input of real samples
  auto operator<=>(const StepKind&) const = default;
};

StepKind kind_of_step(const Observation& one) {
  return {one.ranks, one.of == Observation::Of::step_on_synthetic_data};
}

/// The scenario's last configuration, as it runs on so many ranks.
class DiagnosedJob {
 public:
  DiagnosedJob(const Document& scenario, const Catalogue& catalogue, const DiagnosisOptions& options)
      : catalogue_(catalogue), options_(options) {
    const Configuration last = Configurations(scenario).back();
    document_ = anchored(last.document, catalogue);
    if (!last.pointers.empty()) configuration_.push_back({"/sweep", "{}"});
    if (document_.find("/question")) configuration_.push_back({"/question", "null"});
    document_.remove("/question");
    document_.remove("/measure/bands");
    for (const std::string& pointer : last.pointers)
      configuration_.push_back({pointer, to_json(last.document.find(pointer)->node()).dump()});
    plain_ = options.run;
    plain_.bands = false;
    const RunPlan plan = plan_run(document_, catalogue, plain_);
    if (plan.points.size() > 1) document_.find("/measure/fidelity")->fail("one fidelity");
    for (SetValue& value : take_few_iterations(document_, read_point(plan.points.front(), catalogue).scenario.measure))
      configuration_.push_back(std::move(value));
    ranks_ = plan.points.front().ranks;
    notes_ = plan.notes;
    nodes_ = plan.points.front().nodes;
  }

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int nodes() const { return nodes_; }
  [[nodiscard]] const Document& document() const { return document_; }
  [[nodiscard]] const std::vector<SetValue>& configuration() const { return configuration_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_; }
  [[nodiscard]] const RunOptions& plain() const { return plain_; }

  [[nodiscard]] Document with(const std::vector<SetValue>& set, StepKind kind) const {
    Document changed = document_;
    if (kind.ranks != ranks_) {
      changed.remove("/platform/launch");
      changed.set("/platform/ranks", std::to_string(kind.ranks));
    }
    for (const SetValue& value : set) changed.set(value.pointer, value.json);
    if (kind.is_synthetic) changed.remove("/effects/input");
    return changed;
  }

  /// Where nothing is wrong, with its bands.
  [[nodiscard]] TrainingPoint healthy(StepKind kind) const {
    RunOptions options = options_.run;
    options.bands = true;
    return run_document(with({}, kind), catalogue_, options).points.front();
  }

  [[nodiscard]] double allreduce(const std::vector<SetValue>& set, int ranks, Bytes bytes) const {
    const Document changed = with(set, {ranks});
    const Value platform = Section(changed.root()).child("platform");
    Section section(platform);
    const Value name = section.child("topology");
    Topology topology = catalogue_.topology(read<std::string>(name), name, section.maybe("override"));
    if (const auto condition = section.maybe("condition")) topology.condition.add(read_condition(*condition));
    const auto placement = section.maybe("placement");
    const auto chosen = changed.find("/collectives/allreduce");
    const auto known = find_algorithm_or_library(Operation::allreduce,
                                                 chosen && chosen->is_string() ? read<std::string>(*chosen) : "ring");
    CollectiveRequest request;
    request.algorithm = known ? *known : find_algorithm_or_library(Operation::allreduce, "ring").value();
    request.sizes = {bytes};
    request.fidelities = {Fidelity::flow};
    request.ranks = ranks;
    if (placement) request.placement = read_placement_rule(*placement);
    request.budget = plain_.budget;
    request.network = plain_.network;
    if (!chosen)
      choose_by_default(request, topology, name);
    else if (is_library(request.algorithm))
      request.library =
          use_library(request.algorithm, topology.transport, catalogue_.device(topology.device, name), *chosen);
    return run_collective(request, topology, name).front().time.si();
  }

 private:
  Document document_ = Document::parse("{}", "");
  const Catalogue& catalogue_;
  const DiagnosisOptions& options_;
  std::vector<SetValue> configuration_;
  std::vector<std::string> notes_;
  RunOptions plain_;
  int ranks_ = 1;
  int nodes_ = 1;
};

class Diagnosing {
 public:
  Diagnosing(const Document& scenario, const Catalogue& catalogue, const DiagnosisOptions& options)
      : job_(scenario, catalogue, options), options_(options) {}

  Diagnosis answer() {
    read_observations();
    find_suspects();
    predict();
    weigh();
    answer_.next = next();
    return std::move(answer_);
  }

 private:
  /// A severity of a suspect, before it is weighed; or nothing wrong.
  struct Candidate {
    const Suspect* suspect = nullptr;
    const Severity* severity = nullptr;
    std::vector<double> predicted;
    double log_likelihood = 0;
  };

  void read_observations() {
    answer_.observations = options_.observations;
    for (Observation& one : answer_.observations) {
      const int named = one.ranks;
      if (named == 0) one.ranks = job_.ranks();
      const bool is_step = one.is_step();
      if (one.ranks > job_.ranks() || (one.of == Observation::Of::allreduce && one.ranks < 2))
        refuse_option(is_step ? "--measured" : "--allreduce",
                      fmt::format("{} to the {} ranks of the scenario", is_step ? 1 : 2, job_.ranks()),
                      std::to_string(named));
    }
    know({job_.ranks()});
    for (const Observation& one : answer_.observations) {
      if (one.is_step()) know(kind_of_step(one));
    }
    const TrainingPoint& point = healthy_.at({job_.ranks()});
    answer_.model = point.model;
    answer_.platform = point.platform;
    answer_.configuration = job_.configuration();
    answer_.notes = job_.notes();
  }

  void know(StepKind kind) {
    if (!healthy_.contains(kind)) healthy_.emplace(kind, job_.healthy(kind));
  }

  void find_suspects() {
    const TrainingPoint& point = healthy_.at({job_.ranks()});
    Suspects found = suspects_of({job_.document(), job_.catalogue(), job_.ranks(), job_.nodes(),
                                  point.samples_per_second, point.iteration.si()});
    suspects_ = std::move(found.list);
    nic_rate_ = found.nic_rate;
    copy_rate_ = found.copy_rate;
    for (const Observation& one : answer_.observations) {
      if (one.is_transfer() && !rate_of(one))
        refuse_option(one.of == Observation::Of::write ? "--nic" : "--copy",
                      "a machine whose file gives that rate, and of NICs more than one node", answer_.platform);
    }
    std::vector<std::string> names;
    for (const Suspect& one : suspects_) names.push_back(one.name);
    for (const std::string& name : options_.ruled_out) {
      if (std::ranges::find(names, name) == names.end())
        refuse_option("--rule-out", fmt::format("one of {}", fmt::join(names, ", ")), name, suggestion(name, names));
      std::erase_if(suspects_, [&](const Suspect& one) { return one.name == name; });
    }
  }

  /// What fails on the job's own ranks is nothing that this job can have (a model without blocks recomputes none).
  void predict() {
    candidates_.push_back({});
    for (const Suspect& suspect : suspects_) {
      for (const Severity& severity : suspect.severities) {
        if (planned({&severity, {job_.ranks()}})) candidates_.push_back({&suspect, &severity, {}, 0});
      }
    }
    std::vector<Needed> needed;
    for (const Candidate& one : candidates_) {
      for (const auto& [kind, point] : healthy_) {
        if (one.suspect && meets(*one.suspect, kind.ranks)) needed.push_back({one.severity, kind});
      }
    }
    run(needed);
    for (Candidate& one : candidates_) {
      for (const Observation& observation : answer_.observations) one.predicted.push_back(seconds(one, observation));
    }
    const std::vector<double> healthy = candidates_.front().predicted;
    std::erase_if(candidates_,
                  [&](const Candidate& one) { return one.suspect != nullptr && is_alike(one.predicted, healthy); });
  }

  [[nodiscard]] bool meets(const Suspect& suspect, int ranks) const {
    return ranks == job_.ranks() || !suspect.is_of_last_node;
  }

  static bool is_alike(const std::vector<double>& one, const std::vector<double>& other) {
    for (std::size_t place = 0; place < one.size(); ++place) {
      if (std::abs(std::log(one[place] / other[place])) > shows) return false;
    }
    return true;
  }

  struct Needed {
    const Severity* severity = nullptr;
    StepKind kind;
    auto operator<=>(const Needed&) const = default;
  };

  /// Nothing where it cannot be. Read once, where it is not a machine of gigabytes for all suspects together.
  const std::optional<RunPlan::Point>& planned(const Needed& one) {
    const auto [known, is_new] = planned_.try_emplace(one);
    if (!is_new) return known->second;
    try {
      const std::vector<SetValue> set = one.severity ? one.severity->set : std::vector<SetValue>{};
      RunPlan::Point& point =
          known->second.emplace(plan_run(job_.with(set, one.kind), job_.catalogue(), job_.plain()).points.front());
      if (point.as_read && point.as_read->scenario.platform.platform.links.size() > most_links_kept)
        point.as_read = nullptr;
    } catch (const InputError&) {
    }
    return known->second;
  }

  /// All of them at the same time; what cannot be where there are fewer ranks leaves their step as it was.
  void run(const std::vector<Needed>& needed) {
    RunPlan all;
    std::vector<Needed> of_points;
    for (const Needed& one : needed) {
      if (const auto& point = planned(one)) {
        all.points.push_back(*point);
        of_points.push_back(one);
      }
    }
    planned_.clear();
    if (all.points.empty()) return;
    StudyOptions study;
    study.processes = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    study.point_timeout = options_.longest_point;
    study.execute = [&](const RunPlan::Point& point, Timeline* timeline) {
      return run_point(point, job_.catalogue(), timeline);
    };
    const StudyResult result = run_study(all, {"diagnose", "", all.points.size(), false, {}, "", {}}, study);
    if (!result.failures.empty()) throw std::runtime_error("a suspect failed: " + result.failures.front().reason);
    for (const auto& [place, point] : result.points) steps_[of_points[place]] = times_in(point);
  }

  struct StepTimes {
    double step = 0;
    double kernels = 0;
  };
  static StepTimes times_in(const TrainingPoint& point) { return {point.iteration.si(), point.breakdown.compute.si()}; }

  [[nodiscard]] std::optional<double> rate_of(const Observation& one) const {
    return one.of == Observation::Of::write ? nic_rate_ : copy_rate_;
  }

  [[nodiscard]] double seconds(const Candidate& one, const Observation& observation) {
    if (observation.of == Observation::Of::allreduce) return allreduce(one, observation);
    if (observation.is_transfer()) return transfer(one, observation);
    const StepKind kind = kind_of_step(observation);
    const auto known = one.severity ? steps_.find({one.severity, kind}) : steps_.end();
    const StepTimes healthy = times_in(healthy_.at(kind));
    const StepTimes times = known == steps_.end() ? healthy : known->second;
    if (observation.of != Observation::Of::kernels) return times.step;
    // Between launches that are late no kernel runs. What devices that are all slow take longer, a breakdown has as
    // waiting for them.
    if (one.suspect && one.suspect->is_between_kernels) return healthy.kernels;
    return times.kernels / (one.severity ? one.severity->speed : 1);
  }

  [[nodiscard]] double transfer(const Candidate& one, const Observation& observation) const {
    double left = 1;
    if (one.severity && meets(*one.suspect, observation.ranks))
      left = observation.of == Observation::Of::write ? one.severity->nic_rate : one.severity->copy_rate;
    return observation.bytes.si() / (*rate_of(observation) * left);
  }

  [[nodiscard]] double allreduce(const Candidate& one, const Observation& observation) {
    const auto is_of_network = [](const SetValue& value) {
      return value.pointer.starts_with("/platform") || value.pointer.starts_with("/collectives");
    };
    const bool is_other =
        one.suspect && meets(*one.suspect, observation.ranks) && std::ranges::all_of(one.severity->set, is_of_network);
    const std::vector<SetValue> set = is_other ? one.severity->set : std::vector<SetValue>{};
    try {
      return job_.allreduce(set, observation.ranks, observation.bytes);
    } catch (const InputError&) {
      if (!is_other) throw;
      return job_.allreduce({}, observation.ranks, observation.bytes);
    }
  }

  [[nodiscard]] ErrorScale scale_of(const Observation& one) const {
    if (one.of == Observation::Of::allreduce) return {scale_of_allreduces, 0};
    if (one.is_transfer()) return {scale_of_transfers, 0};
    const TrainingPoint& point = healthy_.at(kind_of_step(one));
    if (one.of != Observation::Of::kernels) return scales_of(point);
    return {scale_of_kernels, point.bands ? scale_of_factors(point.bands->compute) : 0};
  }

  [[nodiscard]] std::vector<MeasuredRatio> ratios_of(const std::vector<double>& predicted) const {
    std::vector<MeasuredRatio> ratios;
    for (std::size_t place = 0; place < predicted.size(); ++place) {
      const Observation& one = answer_.observations[place];
      const ErrorScale scale = scale_of(one);
      ratios.push_back({std::log(one.seconds / predicted[place]), scale.own, scale.shared});
    }
    return ratios;
  }

  void weigh() {
    for (const Observation& one : answer_.observations) {
      const ErrorScale scale = scale_of(one);
      const double factor = std::exp(std::hypot(scale.own, scale.shared) * band_in_scales);
      const double expected = seconds(candidates_.front(), one);
      answer_.bands.push_back({expected / factor, expected * factor});
    }
    for (Candidate& one : candidates_) one.log_likelihood = log_likelihood(ratios_of(one.predicted));
    double all_priors = 0;
    for (const Suspect& one : suspects_) all_priors += count_of(one) > 0 ? one.prior : 0;
    add_hypothesis(nullptr, prior_of_healthy);
    for (const Suspect& one : suspects_) {
      if (count_of(one) > 0) add_hypothesis(&one, (1 - prior_of_healthy) * one.prior / all_priors);
    }
    double sum = 0;
    for (const Hypothesis& one : answer_.hypotheses) sum += one.probability;
    for (Hypothesis& one : answer_.hypotheses) one.probability /= sum;
    std::ranges::stable_sort(answer_.hypotheses, std::greater{}, &Hypothesis::probability);
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& one : candidates_) best = std::min(best, misfit(ratios_of(one.predicted)));
    answer_.is_unexplained = best > hardly;
  }

  [[nodiscard]] std::ptrdiff_t count_of(const Suspect& suspect) const {
    return std::ranges::count(candidates_, &suspect, &Candidate::suspect);
  }

  /// Its likelihood is the mean over its severities, and over what lies between them.
  void add_hypothesis(const Suspect* suspect, double prior) {
    std::vector<const Candidate*> own;
    for (const Candidate& one : candidates_) {
      if (one.suspect == suspect) own.push_back(&one);
    }
    const Candidate& best = **std::ranges::max_element(own, {}, &Candidate::log_likelihood);
    double sum = 0;
    int count = 0;
    for (std::size_t place = 0; place < own.size(); ++place, ++count) {
      sum += std::exp(own[place]->log_likelihood);
      if (place == 0 || !suspect->is_a_scale) continue;
      for (const double part : {0.25, 0.5, 0.75}) {
        sum += std::exp(log_likelihood(ratios_of(between(*own[place - 1], *own[place], part))));
        ++count;
      }
    }
    Hypothesis hypothesis{healthy_name, "nothing is wrong", "", prior, prior * sum / count, {}, 0};
    if (suspect != nullptr) {
      hypothesis.name = suspect->name;
      hypothesis.says = suspect->says;
      hypothesis.look = suspect->look;
    }
    for (const Candidate* one : own) {
      if (one == &best) hypothesis.best = hypothesis.severities.size();
      hypothesis.severities.push_back(one->severity
                                          ? PredictedSeverity{one->severity->text, one->severity->set, one->predicted}
                                          : PredictedSeverity{"", {}, one->predicted});
    }
    answer_.hypotheses.push_back(std::move(hypothesis));
  }

  static std::vector<double> between(const Candidate& one, const Candidate& other, double part) {
    std::vector<double> predicted;
    for (std::size_t place = 0; place < one.predicted.size(); ++place)
      predicted.push_back(one.predicted[place] * std::pow(other.predicted[place] / one.predicted[place], part));
    return predicted;
  }

  [[nodiscard]] bool is_measured(const Observation& what) const {
    return std::ranges::any_of(answer_.observations,
                               [&](const Observation& one) { return one.of == what.of && one.ranks == what.ranks; });
  }

  /// Of what may be measured, that by which the likeliest two lie furthest apart; where nothing tells these, the first
  /// and the third, and so on.
  [[nodiscard]] std::optional<TellingMeasurement> next() {
    if (answer_.hypotheses.size() < 2 || answer_.is_unexplained || answer_.hypotheses[0].probability > settled)
      return std::nullopt;
    const int on_node = (job_.ranks() + job_.nodes() - 1) / job_.nodes();
    std::vector<Observation> possible{{Observation::Of::step_on_synthetic_data, job_.ranks(), {}, 0},
                                      {Observation::Of::kernels, job_.ranks(), {}, 0}};
    if (nic_rate_) possible.push_back({Observation::Of::write, job_.ranks(), unit_of_transfers, 0});
    if (copy_rate_) possible.push_back({Observation::Of::copy, job_.ranks(), unit_of_transfers, 0});
    for (const int ranks : std::set{1, on_node, std::min(2 * on_node, job_.ranks()), job_.ranks()}) {
      possible.push_back({Observation::Of::step, ranks, {}, 0});
      if (ranks > 1) possible.push_back({Observation::Of::allreduce, ranks, usual_size_of_allreduces, 0});
    }
    std::erase_if(possible, [&](const Observation& what) {
      return is_measured(what) || (what.is_step() && !planned({nullptr, kind_of_step(what)}));
    });
    std::optional<TellingMeasurement> best;
    for (std::size_t other = 1; !best && other < std::min(most_told_apart, answer_.hypotheses.size()); ++other) {
      for (const Observation& what : possible) {
        const TellingMeasurement one = told_by(what, other);
        if (one.apart >= tells && (!best || one.apart > best->apart)) best = one;
      }
    }
    return best;
  }

  [[nodiscard]] TellingMeasurement told_by(const Observation& what, std::size_t other) {
    if (what.is_step()) know(kind_of_step(what));
    TellingMeasurement one{
        what, other, "", seconds_of(answer_.hypotheses[0], what), seconds_of(answer_.hypotheses[other], what), 0};
    const ErrorScale scale = scale_of(what);
    const double error =
        scale_of_next(ratios_of(answer_.hypotheses[0].likeliest().seconds), {0, scale.own, scale.shared});
    one.apart = std::abs(std::log(one.first / one.second)) / error;
    one.command = command_of(what);
    return one;
  }

  static std::string command_of(const Observation& what) {
    if (what.of == Observation::Of::step_on_synthetic_data)
      return "the same script on synthetic data (--synthetic TIME)";
    if (what.of == Observation::Of::kernels)
      return "a profile of one step: the device time of its compute kernels (--kernels TIME, or --trace FILE)";
    if (what.of == Observation::Of::write)
      return "ib_write_bw -s 1048576 --report_gbits of each NIC, the slowest (--nic RATE)";
    if (what.of == Observation::Of::copy) return "nvbandwidth -t host_to_device_memcpy_ce (--copy RATE)";
    if (what.of == Observation::Of::step)
      return fmt::format("the same script on {} (--measured \"TIME on {}\")", ranks_text(what.ranks), what.ranks);
    return fmt::format("mpirun -np {0} all_reduce_perf -b 256M -e 256M (--allreduce \"256 MiB in TIME on {0}\")",
                       what.ranks);
  }

  [[nodiscard]] double seconds_of(const Hypothesis& hypothesis, const Observation& what) {
    for (const Candidate& one : candidates_) {
      const bool is_it = one.severity == nullptr ? hypothesis.name == healthy_name
                                                 : one.suspect->name == hypothesis.name &&
                                                       one.severity->text == hypothesis.likeliest().text;
      if (!is_it) continue;
      const Needed step{one.severity, kind_of_step(what)};
      if (one.severity != nullptr && what.is_step() && meets(*one.suspect, what.ranks) && !steps_.contains(step))
        run({step});
      return seconds(one, what);
    }
    throw std::logic_error("a hypothesis that is no candidate");
  }

  DiagnosedJob job_;
  const DiagnosisOptions& options_;
  Diagnosis answer_;
  std::map<StepKind, TrainingPoint> healthy_;
  std::vector<Suspect> suspects_;
  std::vector<Candidate> candidates_;  // the first: nothing wrong
  std::map<Needed, std::optional<RunPlan::Point>> planned_;
  std::map<Needed, StepTimes> steps_;
  std::optional<double> nic_rate_;  // bytes per second
  std::optional<double> copy_rate_;
};

}  // namespace

const Hypothesis& Diagnosis::healthy() const {
  return *std::ranges::find(hypotheses, std::string(healthy_name), &Hypothesis::name);
}

Diagnosis diagnose(const Document& scenario, const Catalogue& catalogue, const DiagnosisOptions& options) {
  return Diagnosing(scenario, catalogue, options).answer();
}

}  // namespace farandole
