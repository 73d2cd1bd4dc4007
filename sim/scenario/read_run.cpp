#include <fmt/format.h>

#include "config/limits.hpp"
#include "scenario/run_spec.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// ResNet-50 on ImageNet keeps its accuracy up to this global batch with linear scaling and five epochs of warm-up
/// (Goyal et al., "Accurate, Large Minibatch SGD", arXiv:1706.02677, figure 1).
constexpr int largest_known_batch = 8192;
constexpr int most_simulations = 1'000'000;
constexpr int most_spares = 1'000'000;

std::int64_t read_count(const Value& where, std::int64_t least) {
  const auto count = read<std::int64_t>(where);
  if (count < least || count > (std::int64_t{1} << 53)) where.fail(fmt::format("a count of at least {}", least));
  return count;
}

Seconds read_positive_time(const Value& where) {
  const auto time = read<Seconds>(where);
  if (time == Seconds(0)) where.fail("a time above 0");
  return time;
}

FailureSpec read_failures(const Value& where) {
  Section section(where);
  FailureSpec failures;
  failures.place = where.place();
  const auto node = section.maybe("node_mtbf");
  const auto device = section.maybe("device_mtbf");
  if (!node && !device) where.fail("a \"node_mtbf\", a \"device_mtbf\" or both");
  if (node) failures.node_mtbf = read_positive_time(*node);
  if (device) failures.device_mtbf = read_positive_time(*device);
  if (const auto recovery = section.maybe("recovery")) {
    const auto text = read<std::string>(*recovery);
    if (text != "restart" && text != "elastic") recovery->fail_unknown("a way to recover", {"restart", "elastic"});
    failures.elastic = text == "elastic";
  }
  failures.detection = section.optional("detection", failures.detection);
  failures.restart = section.optional("restart", failures.restart);
  failures.reloads = section.optional("reload", false);
  failures.repair = section.optional("repair", failures.repair);
  if (const auto spares = section.maybe("spare_nodes")) {
    failures.spare_nodes = read_between(*spares, 0, most_spares);
    if (failures.elastic) spares->fail("no spare nodes where the job goes on with fewer");
  }
  if (const auto steps = section.maybe("commit_every_steps")) failures.commit_every_steps = read_at_least(*steps, 1);
  if (const auto nodes = section.maybe("least_nodes")) failures.least_nodes = read_at_least(*nodes, 1);
  if (const auto count = section.maybe("simulations")) failures.simulations = read_between(*count, 1, most_simulations);
  section.finish();
  return failures;
}

LearningRateSpec read_learning_rate(const Value& where) {
  Section section(where);
  LearningRateSpec rate;
  rate.base = section.required<double>("base");
  if (const auto batch = section.maybe("base_batch")) rate.base_batch = read_at_least(*batch, 1);
  if (const auto scaling = section.maybe("scaling")) {
    rate.scaling = read<std::string>(*scaling);
    if (rate.scaling != "linear" && rate.scaling != "sqrt" && rate.scaling != "none") {
      scaling->fail_unknown("a rule of scaling", {"linear", "sqrt", "none"});
    }
  }
  rate.warmup_epochs = section.optional("warmup_epochs", 0.0);
  rate.largest_known_batch = section.optional("largest_known_batch", largest_known_batch);
  section.finish();
  return rate;
}

}  // namespace

RunSpec read_run(const Value& where, std::int64_t global_batch) {
  Section section(where);
  RunSpec run;
  const Value samples = section.child("samples");
  run.samples = read_count(samples, 1);
  if (run.samples < global_batch) {
    samples.fail(fmt::format("at least one global batch of {} samples", global_batch));
  }
  if (const auto epochs = section.maybe("epochs")) run.epochs = read_at_least(*epochs, 1);
  if (const auto count = section.maybe("evaluation_samples")) run.evaluation_samples = read_count(*count, 0);
  if (const auto every = section.maybe("evaluate_every")) run.evaluate_every = read_at_least(*every, 1);
  run.startup = section.optional("startup", run.startup);
  run.initial_broadcast = section.optional("initial_broadcast", true);
  if (const auto metrics = section.maybe("metrics")) run.metrics = read_at_least(*metrics, 0);
  if (const auto failures = section.maybe("failures")) run.failures = read_failures(*failures);
  if (const auto rate = section.maybe("learning_rate")) run.learning_rate = read_learning_rate(*rate);
  section.finish();
  return run;
}

}}  // namespace farandole::scenario
