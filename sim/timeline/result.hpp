// The result point: what one run of one configuration gives, whoever executed it.
//
// Every executor, simulated or real, returns this; report/ prints it and computes nothing. All numbers are SI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/bands.hpp"
#include "timeline/explanation.hpp"
#include "timeline/fields.hpp"
#include "timeline/job_cost.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

// What a job keeps in the memory of one device, part by part.

struct MemoryUse {
  Bytes parameters;
  Bytes gradients;
  Bytes optimizer_state;  // and the single-precision copy that a model cast to half precision keeps
  Bytes activations;
  Bytes fusion_buffers;
  Bytes server_shard;  // of the parameter server that keeps most; in its host's memory, so no part of the total
  Bytes device;        // what there is
  Bytes gathered{};    // parameters of sharded layers that are whole while they compute
  Bytes outside{};     // the device's context and communication buffers, no part of the total
  Bytes spared{};      // of the total, that a program may keep shorter or its allocator give back

  [[nodiscard]] Bytes total() const {
    return parameters + gradients + optimizer_state + activations + fusion_buffers + gathered;
  }
  /// Whatever the program does.
  [[nodiscard]] Bytes at_least() const { return total() - spared; }
  [[nodiscard]] bool fits() const { return total() + outside <= device; }

  static void fields(auto& memory, auto& visit) {
    visit("parameters", memory.parameters);
    visit("gradients", memory.gradients);
    visit("optimizer_state", memory.optimizer_state);
    visit("activations", memory.activations);
    visit("fusion_buffers", memory.fusion_buffers);
    visit("server_shard", memory.server_shard);
    visit("gathered", memory.gathered);
    visit.derived("total", memory.total());
    visit("device", memory.device);
    visit("outside", memory.outside);
    visit("spared", memory.spared);
  }
};

// What a strategy that tunes itself tried, and what it settled on: Horovod's autotuner.
//
// Filled by the strategy and the loop that lets it tune, part of a result point, printed by report/. A score is bytes
// reduced per microsecond, as Horovod logs it.

struct TuningSample {
  bool hierarchical_allreduce = false;
  bool hierarchical_allgather = false;
  bool cache_enabled = true;
  Seconds cycle_time;
  Bytes fusion_threshold;
  double score = 0;

  static void fields(auto& sample, auto& visit) {
    visit("hierarchical_allreduce", sample.hierarchical_allreduce);
    visit("hierarchical_allgather", sample.hierarchical_allgather);
    visit("cache_enabled", sample.cache_enabled);
    visit("cycle_seconds", sample.cycle_time);
    visit("fusion_threshold", sample.fusion_threshold);
    visit("score", sample.score);
  }
};

struct Tuning {
  std::vector<TuningSample> samples;  // in the order in which they were tried
  TuningSample best;                  // what it works with now
  bool is_over = false;
  int steps = 0;    // until it was over
  Seconds seconds;  // which took so long

  static void fields(auto& tuning, auto& visit) {
    visit("steps", tuning.steps);
    visit("seconds", tuning.seconds);
    visit("best", tuning.best);
    visit("samples", tuning.samples);
    visit.settled(tuning.is_over, true);
  }
};

// What one collective of one size took, with what it was carried out and on which links.
//
// A point of `farandole collective`, and the part of one of `farandole bench` that is measured. All numbers are SI.

/// How busy one link was.
struct LinkUse {
  std::string name;
  Bytes bytes;
  BytesPerSecond capacity;
  double utilisation = 0;  // of its capacity over the time

  static void fields(auto& link, auto& visit) {
    visit("name", link.name);
    visit("bytes", link.bytes);
    visit("capacity", link.capacity);
    visit("utilisation", link.utilisation);
  }
};

/// What a communication library picked for one collective.
struct LibraryChoice {
  std::string algorithm;
  std::string protocol;  // NCCL's: LL, LL128 or Simple; empty where the library has none
  int channels = 1;

  static void fields(auto& choice, auto& visit) {
    visit("chosen_algorithm", choice.algorithm, {.property = 4});
    visit("protocol", choice.protocol, {.property = 5});
    visit("channels", choice.channels, {.property = 6});
  }
};

/// A point of `farandole collective`; of `farandole bench` it is a part (timeline/measured.hpp).
struct CollectivePoint {
  std::string operation;
  std::string algorithm;
  int ranks = 1;
  Bytes bytes;
  Seconds time;
  BytesPerSecond algorithm_bandwidth;
  BytesPerSecond bus_bandwidth;
  std::string fidelity;
  bool folded = false;
  int root = 0;                           // of operations that have one
  int servers = 0;                        // of a parameter server
  std::optional<LibraryChoice> choice{};  // where `algorithm` is a library
  std::optional<Band> band{};             // seconds, of what a library picks: by what measurements were missed by
  std::vector<LinkUse> links{};           // the busiest, where they were asked for
  std::string type = "float";             // of the numbers, by nccl-tests' names
  int type_bytes = 4;

  /// What was measured has no fidelity, and is never folded.
  static void fields(auto& point, auto& visit) {
    const bool is_simulated = !point.fidelity.empty();
    visit("op", point.operation, {.property = 2});
    visit("algorithm", point.algorithm, {.property = 3});
    visit("ranks", point.ranks, {.property = 7});
    visit("bytes", point.bytes);
    visit("seconds", point.time);
    visit("algorithm_bandwidth", point.algorithm_bandwidth);
    visit("bus_bandwidth", point.bus_bandwidth);
    visit("fidelity", point.fidelity, {.stated = is_simulated, .property = 10});
    visit("folded", point.folded, {.stated = is_simulated, .property = 9});
    visit("servers", point.servers, {.property = 8, .usual = "0"});
    visit.part(point.choice);
    visit.part(point.band);
    visit("links", point.links, {.stated = !point.links.empty(), .in_rows = false});
    visit.unwritten(point.root);
    visit.unwritten(point.type);
    visit.unwritten(point.type_bytes);
  }
};

// A whole training run, worked out from its iterations: how long it takes and what it is worth.

/// Where the time of a whole run went; they sum to 1.
struct RunShares {
  double training = 1;    // done for good
  double evaluation = 0;  // and metrics
  double startup = 0;
  double checkpoint = 0;  // waiting for them
  double lost = 0;        // done again after a failure
  double restart = 0;     // until training goes on; elastic: resets, and waiting for enough nodes
  double standby = 0;     // waiting for a node to be repaired; elastic: what missing nodes would have done

  static void fields(auto& shares, auto& visit) {
    visit("training", shares.training, {.column = "goodput", .unit = FigureUnit::percent});
    visit("evaluation", shares.evaluation, {.column = "evaluation", .unit = FigureUnit::percent});
    visit("startup", shares.startup, {.column = "startup", .unit = FigureUnit::percent});
    visit("checkpoint", shares.checkpoint, {.column = "checkpoints", .unit = FigureUnit::percent});
    visit("lost", shares.lost, {.column = "lost work", .unit = FigureUnit::percent});
    visit("restart", shares.restart, {.column = "restarts", .unit = FigureUnit::percent});
    visit("standby", shares.standby, {.column = "standby", .unit = FigureUnit::percent});
  }
};

struct WholeRun {
  std::int64_t samples = 0;  // of the training set
  int epochs = 1;
  std::int64_t global_batch = 0;
  std::int64_t steps_per_epoch = 0;
  double distinct_share = 1;           // of the set that an epoch shows
  Seconds startup;                     // once: launching, and the first broadcast of the parameters
  Seconds epoch;                       // steps, metrics, evaluation and checkpoints
  Seconds evaluation;                  // per epoch in the mean
  Seconds total;                       // the expectation; of elastic runs the mean over seeds of failures
  std::optional<Seconds> total_p50{};  // over seeds of failures; empty where there would be too many of these
  std::optional<Seconds> total_p95{};
  double failures = 0;  // in the mean
  double goodput = 1;   // share of the total that is training done for good
  RunShares shares{};
  std::optional<Seconds> mtbf{};                 // of the job, where anything fails
  std::optional<Seconds> checkpoint_interval{};  // of training; where there are checkpoints
  std::optional<Seconds> best_interval{};        // with these failures
  std::optional<double> best_goodput{};          // with that
  double samples_per_second = 0;
  double learning_rate = 0;  // after scaling; 0 where none is stated
  double warmup_epochs = 0;
  std::vector<std::string> caveats;

  static void fields(auto& run, auto& visit) {
    visit("samples", run.samples);
    visit("epochs", run.epochs);
    visit("global_batch", run.global_batch);
    visit("steps_per_epoch", run.steps_per_epoch, {.column = "steps/epoch"});
    visit("distinct_share", run.distinct_share);
    visit("startup_seconds", run.startup);
    visit("epoch_seconds", run.epoch, {.column = "epoch (s)", .decimals = 3});
    visit("evaluation_seconds", run.evaluation);
    visit("total_seconds", run.total, {.column = "hours", .decimals = 3, .unit = FigureUnit::hours});
    visit("total_seconds_p50", run.total_p50);
    visit("total_seconds_p95", run.total_p95, {.column = "p95 (hours)", .decimals = 3, .unit = FigureUnit::hours});
    visit.derived("hours", run.total / 3600_s);
    visit("failures", run.failures, {.column = "failures"});
    visit("goodput", run.goodput, {.column = "goodput (%)", .unit = FigureUnit::percent});
    visit("shares", run.shares);
    visit("mtbf_seconds", run.mtbf);
    visit("checkpoint_interval_seconds", run.checkpoint_interval);
    visit("best_checkpoint_interval_seconds", run.best_interval);
    visit("best_goodput", run.best_goodput);
    visit("samples_per_second", run.samples_per_second);
    visit("learning_rate", run.learning_rate);
    visit("warmup_epochs", run.warmup_epochs);
    visit("caveats", run.caveats);
  }
};

/// Disjoint parts of the mean iteration; they sum to it.
struct Breakdown {
  Seconds compute;
  Seconds exposed_communication;
  Seconds negotiation;
  Seconds straggler;
  Seconds input;
  Seconds checkpoint;
  Seconds other;

  [[nodiscard]] Seconds total() const;
  /// By their names in the list.
  [[nodiscard]] std::vector<WaterfallPart> parts() const;
  Breakdown& operator+=(const Breakdown& more);

  static void fields(auto& parts, auto& visit) {
    visit("compute", parts.compute);
    visit("exposed_communication", parts.exposed_communication);
    visit("negotiation", parts.negotiation);
    visit("straggler", parts.straggler);
    visit("input", parts.input);
    visit("checkpoint", parts.checkpoint);
    visit("other", parts.other);
  }
};
Breakdown operator*(const Breakdown& parts, double factor);

/// Exposed communication by what was under way; of several collectives at once, the one that began first.
struct ExposedCommunication {
  Seconds allgather;
  Seconds reduce_scatter;
  Seconds allreduce;
  std::optional<Seconds> tensor{};    // of all kinds, between the ranks that compute a layer together
  std::optional<Seconds> experts{};   // of all kinds, between ranks that share experts
  std::optional<Seconds> pipeline{};  // waiting for other stages, and for what they send

  static void fields(auto& exposed, auto& visit) {
    visit("allgather", exposed.allgather);
    visit("reduce_scatter", exposed.reduce_scatter);
    visit("allreduce", exposed.allreduce);
    visit("tensor_parallel", exposed.tensor);
    visit("expert_parallel", exposed.experts);
    visit("pipeline", exposed.pipeline);
  }
};

/// What became of a numeric problem's weights in simulated time.
struct Learning {
  std::string problem;
  std::vector<double> weights;   // at the end, flat
  double start_loss = 0;         // before the first epoch
  std::vector<double> loss;      // at the end of each epoch, over all samples
  std::vector<Seconds> seconds;  // when that was, since the start of the run

  static void fields(auto& learning, auto& visit) {
    visit("problem", learning.problem);
    visit("start_loss", learning.start_loss);
    visit("weights", learning.weights, {.stated = !learning.weights.empty()});
    visit("loss", learning.loss, {.stated = !learning.loss.empty()});
    visit("seconds", learning.seconds, {.stated = !learning.seconds.empty()});
  }
};

/// A job that shares the network with the one that is simulated.
struct Neighbour {
  std::string model;
  int ranks = 1;
  Seconds alone;   // its mean iteration by itself
  Seconds beside;  // and beside this job

  static void fields(auto& job, auto& visit) {
    visit("model", job.model);
    visit("ranks", job.ranks);
    visit("iteration_seconds_alone", job.alone);
    visit("iteration_seconds", job.beside);
  }
};

/// What a sweep or a search put where: a JSON pointer, or "variants" (of a search "variant"), and the value as it was
/// written.
struct SweptValue {
  std::string pointer;
  std::string value;

  static void fields(auto& swept, auto& visit) { visit.entry(swept.pointer, swept.value); }
};
template <>
inline constexpr bool is_entry<SweptValue> = true;

/// What one device was inferred to take, for the simulation to agree with runs that were measured.
struct Anchoring {
  struct Step {
    int batch = 1;
    Seconds time;

    static void fields(auto& step, auto& visit) {
      visit("batch", step.batch);
      visit("seconds", step.time);
    }
  };
  std::vector<Step> steps;            // of one device alone, in order of batch
  std::optional<Seconds> fixed;       // of a step, whatever its batch; of two batches or more
  std::optional<Seconds> per_sample;  // the same

  static void fields(auto& anchoring, auto& visit) {
    visit("device_steps", anchoring.steps);
    visit("fixed_seconds", anchoring.fixed);
    visit("seconds_per_sample", anchoring.per_sample);
  }
};

/// How much of its devices a job uses (workload/kernels.hpp).
struct Utilisation {
  int sequence_length = 0;             // tokens of a sample; 0: a sample is no sequence
  double tokens_per_second = 0;        // of all ranks; 0 without a sequence
  double tflops = 0;                   // TFLOP/s of one device: what the model's mathematics asks for
  std::optional<double> mfu{};         // share of the device's peak; empty where the peak of the precision is not known
  std::optional<double> mfu_causal{};  // of attention only what a causal mask leaves; empty where it hides nothing
  std::optional<double> hfu{};         // the same with what is recomputed
  std::string recompute{"none"};       // none, attention, selective or full

  static void fields(auto& use, auto& visit) {
    visit("sequence_length", use.sequence_length, {.stated = use.sequence_length > 0});
    visit("tokens_per_second", use.tokens_per_second,
          {.stated = use.sequence_length > 0, .column = "tokens/s", .decimals = 0});
    visit("recompute", use.recompute, {.property = 8, .usual = "none"});
    visit("tflops_per_device", use.tflops, {.column = "TFLOP/s per device"});
    visit("mfu", use.mfu, {.column = "MFU (%)", .unit = FigureUnit::percent});
    visit("mfu_causal", use.mfu_causal, {.stated = use.mfu_causal.has_value()});
    visit("hfu", use.hfu, {.column = "HFU (%)", .unit = FigureUnit::percent});
  }
};

/// What a point was run with, by the kinds of change that comparisons are asked about: "ranks", "network", "precision".
/// Two points differ in the kinds whose values differ.
struct ComparedSetting {
  std::string of;
  std::string value;
  double apart =
      0;  // how far the ratio of two steps lies from the predicted one, in logarithms, where they differ in it

  static void fields(auto& setting, auto& visit) {
    visit("of", setting.of);
    visit("value", setting.value);
    visit("apart", setting.apart);
  }
};

using ComparedSettings = std::vector<ComparedSetting>;

/// The kinds in which two points differ, in order of name, with the larger of both spreads.
ComparedSettings changed_between(const ComparedSettings& from, const ComparedSettings& to);

/// A point of `farandole run`.
struct TrainingPoint {
  std::string model;
  std::string variant;
  int ranks = 1;
  int nodes = 1;
  std::string platform;
  std::string strategy;
  std::string mode;
  std::string strategy_options;  // that a sweep is likely to change; empty where all are as by default
  std::string algorithm;
  std::string fidelity;
  int batch_per_rank = 1;
  std::string precision;       // of computation
  std::string gradient_type;   // what travels and is summed
  std::string compute_source;  // begins with "measured", "estimated", "profiled", "given" or "anchored"
  Seconds iteration;
  Seconds iteration_p50;
  Seconds iteration_p95;
  double samples_per_second = 0;
  double scaling_efficiency = 1;
  Breakdown breakdown;
  int collectives_per_iteration = 0;
  Bytes gradient_bytes;
  MemoryUse memory;
  std::vector<PathStep> critical_path;  // of the last iteration
  std::optional<WholeRun> run;
  std::optional<JobCost> cost;  // of a scenario that says how its machine is paid for
  std::optional<Explanation> explanation;
  bool folded = false;               // whether every collective was timed by representatives
  double mean_staleness = 0;         // of servers without a barrier: updates by others between pull and push
  std::optional<Learning> learning;  // of a scenario with a numeric problem
  std::vector<Neighbour> neighbours;
  std::vector<LinkUse> links;      // the busiest over an iteration, where they were asked for
  std::optional<Tuning> tuning;    // of a strategy that tunes itself: with the first seed
  std::vector<SweptValue> swept;   // in the order of the sweep's axes
  std::vector<std::string> notes;  // what a reader would otherwise take for a result, each a sentence
  std::optional<Anchoring> anchoring{};
  std::optional<Bands> bands{};  // where compute times are uncertain, and it was asked for
  Utilisation utilisation{};
  std::optional<ExposedCommunication> exposed{};  // of sharded strategies
  ComparedSettings compared{};                    // where there may be bands: what a difference from it is judged by

  /// The first word of where compute times come from: "measured" (a throughput, or a profile of layers), "anchored" or
  /// "estimated"; empty where the point does not say.
  [[nodiscard]] std::string compute_kind() const;

  static void fields(auto& point, auto& visit) {
    visit("model", point.model, {.property = 1, .always_a_column = true});
    visit("variant", point.variant, {.property = 2});
    visit("ranks", point.ranks, {.property = 12, .always_a_column = true});
    visit("nodes", point.nodes, {.property = 13, .always_a_column = true});
    visit("platform", point.platform, {.property = 3});
    visit("strategy", point.strategy, {.property = 4});
    visit("mode", point.mode, {.property = 5});
    visit("algorithm", point.algorithm, {.property = 7});
    visit("fidelity", point.fidelity, {.property = 14});
    visit("iteration_seconds", point.iteration, {.column = "iteration", .unit = FigureUnit::iteration});
    visit("iteration_seconds_p50", point.iteration_p50);
    visit("iteration_seconds_p95", point.iteration_p95, {.column = "p95", .unit = FigureUnit::iteration});
    visit("samples_per_second", point.samples_per_second, {.column = "samples/s"});
    visit("scaling_efficiency", point.scaling_efficiency, {.column = "efficiency (%)", .unit = FigureUnit::percent});
    visit("breakdown", point.breakdown);
    visit("batch_per_rank", point.batch_per_rank, {.property = 11});
    visit("precision", point.precision, {.property = 9});
    visit("gradient_type", point.gradient_type, {.property = 10});
    visit.derived("compute_source", point.compute_kind());
    visit("compute_source_detail", point.compute_source);
    visit("collectives_per_iteration", point.collectives_per_iteration, {.column = "collectives"});
    visit("strategy_options", point.strategy_options, {.property = 6});
    visit("gradient_bytes", point.gradient_bytes, {.column = "gradients"});
    visit("folded", point.folded);
    visit("mean_staleness", point.mean_staleness);
    visit("memory", point.memory);
    visit("exposed", point.exposed);
    visit.part(point.utilisation);
    visit.derived("anchored", true, {.stated = point.anchoring.has_value()});
    visit("inferred", point.anchoring);
    visit("bands", point.bands);
    visit("compared_by", point.compared, {.stated = !point.compared.empty(), .in_rows = false});
    visit("swept", point.swept, {.stated = !point.swept.empty()});
    visit("notes", point.notes, {.stated = !point.notes.empty()});
    visit("run", point.run);
    visit("economics", point.cost);
    visit.part(point.explanation);
    visit("learning", point.learning);
    visit("neighbours", point.neighbours, {.stated = !point.neighbours.empty(), .in_rows = false});
    visit("links", point.links, {.stated = !point.links.empty(), .in_rows = false});
    visit("autotune", point.tuning);
    visit.unwritten(point.critical_path);
  }
};

/// The question a study was made for: what changes if these values become those?
struct Question {
  std::string ask;               // in its author's words
  std::vector<SweptValue> from;  // each a value on an axis of the sweep
  std::vector<SweptValue> to;

  static void fields(auto& question, auto& visit) {
    visit("ask", question.ask);
    visit("from", question.from);
    visit("to", question.to);
  }
};

/// What somebody published of a configuration that is simulated too: a mark beside its curve.
struct PublishedMark {
  std::size_t point = 0;  // a result point of the same configuration, whatever its ranks
  int ranks = 1;
  double samples_per_second = 0;
  double scaling_efficiency = 0;
  std::string source;  // the file of scenarios/published
};

/// Effective settings, printed in every result: name to value, in order of name.
using Settings = std::map<std::string, std::string>;

// What a search over a scenario found.
//
// Filled by study/, printed by report/.

/// The values of one thing searched over with which a point is nearly as good as the best.
struct NearlyAsGood {
  std::string pointer;
  std::vector<std::string> values;  // of an open range its ends: from where to where

  static void fields(auto& part, auto& visit) { visit.entry(part.pointer, part.values); }
};
template <>
inline constexpr bool is_entry<NearlyAsGood> = true;

struct Optimum {
  std::string goal;    // "least cost_per_run with run_seconds at most 6 h"
  std::string method;  // "grid", "first", "golden_section" or "global"
  int points_run = 0;
  int feasible = 0;       // of these, keep all bounds
  std::size_t point = 0;  // the best among the result's points; where none is feasible, the nearest to it
  double value = 0;
  std::vector<SweptValue> at;
  double tolerance = 0.01;  // relative, of nearly as good
  std::vector<NearlyAsGood> flat;

  static void fields(auto& optimum, auto& visit) {
    visit("goal", optimum.goal);
    visit("method", optimum.method);
    visit("points_run", optimum.points_run);
    visit("feasible", optimum.feasible);
    visit("point", optimum.point);
    visit("value", optimum.value);
    visit("at", optimum.at);
    visit("tolerance", optimum.tolerance);
    visit("nearly_as_good", optimum.flat);
  }
};

}}  // namespace farandole::timeline
