#include "report/read_record.hpp"

#include <stdexcept>

#include "report/band_record.hpp"
#include "report/cost_record.hpp"

namespace farandole {
namespace {

Seconds seconds(const Record& record, const char* key) {
  return Seconds(record.at(key).get<double>());
}

Breakdown breakdown(const Record& record) {
  return {seconds(record, "compute"),     seconds(record, "exposed_communication"),
          seconds(record, "negotiation"), seconds(record, "straggler"),
          seconds(record, "input"),       seconds(record, "checkpoint"),
          seconds(record, "other")};
}

Bytes bytes(const Record& record, const char* key) {
  return Bytes(record.at(key).get<double>());
}

MemoryUse memory(const Record& record) {
  return {bytes(record, "parameters"),  bytes(record, "gradients"),      bytes(record, "optimizer_state"),
          bytes(record, "activations"), bytes(record, "fusion_buffers"), bytes(record, "server_shard"),
          bytes(record, "device"),      bytes(record, "gathered")};
}

std::optional<double> maybe(const Record& record, const char* key) {
  return record.contains(key) ? std::optional<double>(record.at(key).get<double>()) : std::nullopt;
}

Utilisation utilisation(const Record& record) {
  Utilisation use;
  use.sequence_length = record.value("sequence_length", 0);
  use.tokens_per_second = record.value("tokens_per_second", 0.0);
  use.tflops = record.at("tflops_per_device");
  use.mfu = maybe(record, "mfu");
  use.hfu = maybe(record, "hfu");
  use.recompute = record.at("recompute");
  return use;
}

WholeRun whole_run(const Record& record) {
  WholeRun run;
  run.samples = record.at("samples");
  run.epochs = record.at("epochs");
  run.global_batch = record.at("global_batch");
  run.steps_per_epoch = record.at("steps_per_epoch");
  run.distinct_share = record.at("distinct_share");
  run.startup = seconds(record, "startup_seconds");
  run.epoch = seconds(record, "epoch_seconds");
  run.evaluation = seconds(record, "evaluation_seconds");
  run.total = seconds(record, "total_seconds");
  run.total_p50 = seconds(record, "total_seconds_p50");
  run.total_p95 = seconds(record, "total_seconds_p95");
  run.failures = record.at("failures");
  run.goodput = record.at("goodput");
  run.samples_per_second = record.at("samples_per_second");
  run.learning_rate = record.at("learning_rate");
  run.warmup_epochs = record.at("warmup_epochs");
  run.caveats = record.at("caveats").get<std::vector<std::string>>();
  return run;
}

/// Its three parts stand in the point's own record.
Explanation explanation(const Record& record) {
  Explanation result;
  for (const auto& [name, time] : record.at("waterfall").items()) {
    result.waterfall.push_back({name, Seconds(time.get<double>())});
  }
  for (const Record& step : record.at("critical_path")) {
    result.critical_path.push_back({step.at("activity"), seconds(step, "from"), seconds(step, "to")});
  }
  for (const Record& what_if : record.at("what_ifs")) {
    WhatIf& read = result.what_ifs.emplace_back();
    read.change = what_if.at("change");
    read.kind = what_if.at("kind");
    read.samples_per_second = what_if.at("samples_per_second");
    read.efficiency_points = what_if.at("efficiency_points");
    read.iteration = seconds(what_if, "iteration_seconds");
    read.scaling_efficiency = what_if.at("scaling_efficiency");
    const Record set = what_if.at("set");
    for (const auto& [pointer, value] : set.items()) read.set.push_back({pointer, value.dump()});
  }
  return result;
}

Learning learning(const Record& record) {
  Learning result;
  result.problem = record.at("problem");
  result.start_loss = record.at("start_loss");
  for (const Record& weight : record.value("weights", Record::array())) result.weights.push_back(weight);
  for (const Record& loss : record.value("loss", Record::array())) result.loss.push_back(loss);
  for (const Record& at : record.value("seconds", Record::array())) result.seconds.push_back(Seconds(at.get<double>()));
  return result;
}

TuningSample tuning_sample(const Record& record) {
  return {record.at("hierarchical_allreduce"), record.at("hierarchical_allgather"), record.at("cache_enabled"),
          seconds(record, "cycle_seconds"),    bytes(record, "fusion_threshold"),   record.at("score")};
}

/// Only one that is over is ever written.
Tuning tuning(const Record& record) {
  Tuning result;
  for (const Record& sample : record.at("samples")) result.samples.push_back(tuning_sample(sample));
  result.best = tuning_sample(record.at("best"));
  result.is_over = true;
  result.steps = record.at("steps");
  result.seconds = seconds(record, "seconds");
  return result;
}

Anchoring anchoring(const Record& record) {
  Anchoring result;
  for (const Record& step : record.at("device_steps"))
    result.steps.push_back({step.at("batch"), seconds(step, "seconds")});
  if (record.contains("fixed_seconds")) result.fixed = seconds(record, "fixed_seconds");
  if (record.contains("seconds_per_sample")) result.per_sample = seconds(record, "seconds_per_sample");
  return result;
}

TrainingPoint read(const Record& record) {
  TrainingPoint point;
  point.model = record.at("model");
  point.variant = record.at("variant");
  point.ranks = record.at("ranks");
  point.nodes = record.at("nodes");
  point.platform = record.at("platform");
  point.strategy = record.at("strategy");
  point.mode = record.at("mode");
  point.algorithm = record.at("algorithm");
  point.fidelity = record.at("fidelity");
  point.iteration = seconds(record, "iteration_seconds");
  point.iteration_p50 = seconds(record, "iteration_seconds_p50");
  point.iteration_p95 = seconds(record, "iteration_seconds_p95");
  point.samples_per_second = record.at("samples_per_second");
  point.scaling_efficiency = record.at("scaling_efficiency");
  point.breakdown = breakdown(record.at("breakdown"));
  point.batch_per_rank = record.at("batch_per_rank");
  point.precision = record.at("precision");
  point.gradient_type = record.at("gradient_type");
  point.compute_source = record.at("compute_source_detail");
  point.collectives_per_iteration = record.at("collectives_per_iteration");
  point.gradient_bytes = bytes(record, "gradient_bytes");
  point.folded = record.at("folded");
  point.mean_staleness = record.at("mean_staleness");
  point.strategy_options = record.at("strategy_options");
  point.memory = memory(record.at("memory"));
  point.utilisation = utilisation(record);
  const Record swept = record.value("swept", Record::object());  // items() refers to it
  for (const auto& [pointer, value] : swept.items()) {
    point.swept.push_back({pointer, value});
  }
  if (record.contains("bands")) point.bands = bands_of(record.at("bands"));
  if (record.contains("inferred")) point.anchoring = anchoring(record.at("inferred"));
  point.notes = record.value("notes", std::vector<std::string>{});
  if (record.contains("run")) point.run = whole_run(record.at("run"));
  if (record.contains("economics")) point.cost = job_cost(record.at("economics"));
  if (record.contains("waterfall")) point.explanation = explanation(record);
  for (const Record& job : record.value("neighbours", Record::array())) {
    point.neighbours.push_back(
        {job.at("model"), job.at("ranks"), seconds(job, "iteration_seconds_alone"), seconds(job, "iteration_seconds")});
  }
  for (const Record& link : record.value("links", Record::array())) {
    const BytesPerSecond capacity(link.at("capacity").get<double>());
    point.links.push_back({link.at("name"), bytes(link, "bytes"), capacity, link.at("utilisation")});
  }
  if (record.contains("learning")) point.learning = learning(record.at("learning"));
  if (record.contains("autotune")) point.tuning = tuning(record.at("autotune"));
  return point;
}

}  // namespace

TrainingPoint training_point(const Record& record) {
  TrainingPoint point;
  try {
    point = read(record);
  } catch (const Record::exception& error) {
    throw std::logic_error(std::string("not the record of a point: ") + error.what());
  }
  // A key that is written and not read would be lost without a word.
  if (to_record(point) != record) throw std::logic_error("a record that does not come back as it was");
  return point;
}

}  // namespace farandole
