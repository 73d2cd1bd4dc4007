#include "report/record.hpp"

#include <cmath>
#include <cstdint>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/band_record.hpp"
#include "report/compute_source.hpp"
#include "report/cost_record.hpp"
#include "report/version.hpp"

namespace farandole {
namespace {

/// Sizes are whole numbers of bytes nearly always, and then read best as integers; a double holds them up to 2^53.
Record size_in_bytes(Bytes size, std::string_view key) {
  constexpr double largest_exact = 9007199254740992.0;
  const double bytes = finite(size.si(), key);
  if (bytes == std::floor(bytes) && std::abs(bytes) <= largest_exact) return static_cast<std::int64_t>(bytes);
  return bytes;
}

Record to_record(const Breakdown& breakdown) {
  return {{"compute", finite(breakdown.compute.si(), "compute")},
          {"exposed_communication", finite(breakdown.exposed_communication.si(), "exposed_communication")},
          {"negotiation", finite(breakdown.negotiation.si(), "negotiation")},
          {"straggler", finite(breakdown.straggler.si(), "straggler")},
          {"input", finite(breakdown.input.si(), "input")},
          {"checkpoint", finite(breakdown.checkpoint.si(), "checkpoint")},
          {"other", finite(breakdown.other.si(), "other")}};
}

Record to_record(const MemoryUse& memory) {
  return {{"parameters", size_in_bytes(memory.parameters, "parameters")},
          {"gradients", size_in_bytes(memory.gradients, "gradients")},
          {"optimizer_state", size_in_bytes(memory.optimizer_state, "optimizer_state")},
          {"activations", size_in_bytes(memory.activations, "activations")},
          {"fusion_buffers", size_in_bytes(memory.fusion_buffers, "fusion_buffers")},
          {"server_shard", size_in_bytes(memory.server_shard, "server_shard")},
          {"gathered", size_in_bytes(memory.gathered, "gathered")},
          {"total", size_in_bytes(memory.total(), "total")},
          {"device", size_in_bytes(memory.device, "device")}};
}

Record to_record(const WholeRun& run) {
  return {{"samples", run.samples},
          {"epochs", run.epochs},
          {"global_batch", run.global_batch},
          {"steps_per_epoch", run.steps_per_epoch},
          {"distinct_share", finite(run.distinct_share, "distinct_share")},
          {"startup_seconds", finite(run.startup.si(), "startup_seconds")},
          {"epoch_seconds", finite(run.epoch.si(), "epoch_seconds")},
          {"evaluation_seconds", finite(run.evaluation.si(), "evaluation_seconds")},
          {"total_seconds", finite(run.total.si(), "total_seconds")},
          {"total_seconds_p50", finite(run.total_p50.si(), "total_seconds_p50")},
          {"total_seconds_p95", finite(run.total_p95.si(), "total_seconds_p95")},
          {"hours", finite(run.total / 3600_s, "hours")},
          {"failures", finite(run.failures, "failures")},
          {"goodput", finite(run.goodput, "goodput")},
          {"samples_per_second", finite(run.samples_per_second, "samples_per_second")},
          {"learning_rate", finite(run.learning_rate, "learning_rate")},
          {"warmup_epochs", finite(run.warmup_epochs, "warmup_epochs")},
          {"caveats", run.caveats}};
}

Record to_record(const std::vector<SetValue>& set) {
  Record record = Record::object();
  for (const auto& [pointer, json] : set) record[pointer] = Record::parse(json);
  return record;
}

/// "waterfall" holds seconds by mechanism, which sum to the iteration.
void add_explanation(Record& record, const Explanation& explanation) {
  Record waterfall = Record::object();
  for (const auto& [name, time] : explanation.waterfall) waterfall[name] = finite(time.si(), name);
  Record path = Record::array();
  for (const auto& [activity, from, to] : explanation.critical_path) {
    path.push_back({{"activity", activity}, {"from", finite(from.si(), "from")}, {"to", finite(to.si(), "to")}});
  }
  Record what_ifs = Record::array();
  for (const WhatIf& what_if : explanation.what_ifs) {
    what_ifs.push_back({{"change", what_if.change},
                        {"kind", what_if.kind},
                        {"samples_per_second", finite(what_if.samples_per_second, "samples_per_second")},
                        {"efficiency_points", finite(what_if.efficiency_points, "efficiency_points")},
                        {"iteration_seconds", finite(what_if.iteration.si(), "iteration_seconds")},
                        {"scaling_efficiency", finite(what_if.scaling_efficiency, "scaling_efficiency")},
                        {"set", to_record(what_if.set)}});
  }
  record["waterfall"] = std::move(waterfall);
  record["critical_path"] = std::move(path);
  record["what_ifs"] = std::move(what_ifs);
}

Record to_record(const Learning& learning) {
  Record record{{"problem", learning.problem}, {"start_loss", finite(learning.start_loss, "start_loss")}};
  for (const double weight : learning.weights) record["weights"].push_back(finite(weight, "weights"));
  for (const double loss : learning.loss) record["loss"].push_back(finite(loss, "loss"));
  for (const Seconds at : learning.seconds) record["seconds"].push_back(finite(at.si(), "seconds"));
  return record;
}

Record to_record(const TuningSample& sample) {
  return {{"hierarchical_allreduce", sample.hierarchical_allreduce},
          {"hierarchical_allgather", sample.hierarchical_allgather},
          {"cache_enabled", sample.cache_enabled},
          {"cycle_seconds", finite(sample.cycle_time.si(), "cycle_seconds")},
          {"fusion_threshold", size_in_bytes(sample.fusion_threshold, "fusion_threshold")},
          {"score", finite(sample.score, "score")}};
}

Record to_record(const Tuning& tuning) {
  Record samples = Record::array();
  for (const TuningSample& sample : tuning.samples) samples.push_back(to_record(sample));
  return {{"steps", tuning.steps},
          {"seconds", finite(tuning.seconds.si(), "seconds")},
          {"best", to_record(tuning.best)},
          {"samples", std::move(samples)}};
}

Record to_record(const LinkUse& link) {
  return {{"name", link.name},
          {"bytes", size_in_bytes(link.bytes, "bytes")},
          {"capacity", finite(link.capacity.si(), "capacity")},
          {"utilisation", finite(link.utilisation, "utilisation")}};
}

Record to_record(const Neighbour& neighbour) {
  return {{"model", neighbour.model},
          {"ranks", neighbour.ranks},
          {"iteration_seconds_alone", finite(neighbour.alone.si(), "iteration_seconds_alone")},
          {"iteration_seconds", finite(neighbour.beside.si(), "iteration_seconds")}};
}

void add_utilisation(Record& record, const Utilisation& use) {
  if (use.sequence_length > 0) {
    record["sequence_length"] = use.sequence_length;
    record["tokens_per_second"] = finite(use.tokens_per_second, "tokens_per_second");
  }
  record["recompute"] = use.recompute;
  record["tflops_per_device"] = finite(use.tflops, "tflops_per_device");
  if (use.mfu) record["mfu"] = finite(*use.mfu, "mfu");
  if (use.hfu) record["hfu"] = finite(*use.hfu, "hfu");
}

Record to_record(const Anchoring& anchoring) {
  Record steps = Record::array();
  for (const auto& step : anchoring.steps) {
    steps.push_back({{"batch", step.batch}, {"seconds", finite(step.time.si(), "seconds")}});
  }
  Record record{{"device_steps", std::move(steps)}};
  if (anchoring.fixed) record["fixed_seconds"] = finite(anchoring.fixed->si(), "fixed_seconds");
  if (anchoring.per_sample) record["seconds_per_sample"] = finite(anchoring.per_sample->si(), "seconds_per_sample");
  return record;
}

}  // namespace

double finite(double number, std::string_view key) {
  if (!std::isfinite(number)) throw std::logic_error(fmt::format("the result \"{}\" is not a finite number", key));
  return number + 0.0;  // -0.0 + 0.0 is 0.0
}

Record to_record(const TrainingPoint& point) {
  Record record{{"model", point.model},
                {"variant", point.variant},
                {"ranks", point.ranks},
                {"nodes", point.nodes},
                {"platform", point.platform},
                {"strategy", point.strategy},
                {"mode", point.mode},
                {"algorithm", point.algorithm},
                {"fidelity", point.fidelity},
                {"iteration_seconds", finite(point.iteration.si(), "iteration_seconds")},
                {"iteration_seconds_p50", finite(point.iteration_p50.si(), "iteration_seconds_p50")},
                {"iteration_seconds_p95", finite(point.iteration_p95.si(), "iteration_seconds_p95")},
                {"samples_per_second", finite(point.samples_per_second, "samples_per_second")},
                {"scaling_efficiency", finite(point.scaling_efficiency, "scaling_efficiency")},
                {"breakdown", to_record(point.breakdown)},
                {"batch_per_rank", point.batch_per_rank},
                {"precision", point.precision},
                {"gradient_type", point.gradient_type},
                {"compute_source", compute_kind(point)},
                {"compute_source_detail", point.compute_source},
                {"collectives_per_iteration", point.collectives_per_iteration},
                {"strategy_options", point.strategy_options},
                {"gradient_bytes", size_in_bytes(point.gradient_bytes, "gradient_bytes")},
                {"folded", point.folded},
                {"mean_staleness", finite(point.mean_staleness, "mean_staleness")},
                {"memory", to_record(point.memory)}};
  add_utilisation(record, point.utilisation);
  if (point.anchoring) {
    record["anchored"] = true;
    record["inferred"] = to_record(*point.anchoring);
  }
  if (point.bands) record["bands"] = to_record(*point.bands);
  for (const SweptValue& swept : point.swept) record["swept"][swept.pointer] = swept.value;
  if (!point.notes.empty()) record["notes"] = point.notes;
  if (point.run) record["run"] = to_record(*point.run);
  if (point.cost) record["economics"] = to_record(*point.cost);
  if (point.explanation) add_explanation(record, *point.explanation);
  if (point.learning) record["learning"] = to_record(*point.learning);
  for (const Neighbour& job : point.neighbours) record["neighbours"].push_back(to_record(job));
  for (const LinkUse& link : point.links) record["links"].push_back(to_record(link));
  if (point.tuning) record["autotune"] = to_record(*point.tuning);
  return record;
}

Record to_record(const CollectivePoint& point) {
  Record record{{"op", point.operation},
                {"algorithm", point.algorithm},
                {"ranks", point.ranks},
                {"bytes", size_in_bytes(point.bytes, "bytes")},
                {"seconds", finite(point.time.si(), "seconds")},
                {"algorithm_bandwidth", finite(point.algorithm_bandwidth.si(), "algorithm_bandwidth")},
                {"bus_bandwidth", finite(point.bus_bandwidth.si(), "bus_bandwidth")},
                {"fidelity", point.fidelity},
                {"folded", point.folded},
                {"servers", point.servers}};
  if (point.choice) {
    record["chosen_algorithm"] = point.choice->algorithm;
    record["protocol"] = point.choice->protocol;
    record["channels"] = point.choice->channels;
  }
  for (const LinkUse& link : point.links) record["links"].push_back(to_record(link));
  return record;
}

std::string json_text(const Record& record, int indent) {
  return record.dump(indent, ' ', false, Record::error_handler_t::replace);
}

namespace {

Record to_record(const Optimum& optimum) {
  Record at = Record::object();
  for (const auto& [pointer, value] : optimum.at) at[pointer] = value;
  Record flat = Record::object();
  for (const NearlyAsGood& part : optimum.flat) flat[part.pointer] = part.values;
  return {{"goal", optimum.goal},         {"method", optimum.method},       {"points_run", optimum.points_run},
          {"feasible", optimum.feasible}, {"point", optimum.point},         {"value", finite(optimum.value, "value")},
          {"at", std::move(at)},          {"tolerance", optimum.tolerance}, {"nearly_as_good", std::move(flat)}};
}

}  // namespace

void write_json(std::ostream& out, const Heading& heading, const std::vector<Record>& records) {
  Record document{{"farandole", version()}, {"scenario", heading.scenario}};
  if (!heading.answer.empty()) document["answer"] = heading.answer;
  if (heading.optimum) document["optimum"] = to_record(*heading.optimum);
  for (const auto& [point, reason] : heading.failed) {
    document["failed"].push_back({{"point", point}, {"reason", reason}});
  }
  document["settings"] = Record(heading.settings);
  document["points"] = Record(records);
  out << json_text(document, 2) << '\n';
}

}  // namespace farandole
