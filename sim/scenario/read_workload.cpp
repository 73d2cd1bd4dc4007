#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "scenario/anchor.hpp"
#include "scenario/read_parts.hpp"
#include "training/gradient_type.hpp"
#include "units/format.hpp"
#include "workload/trained.hpp"

namespace farandole { inline namespace scenario {
std::optional<Seconds> usual_dispatch(const Device& device) {
  // TensorFlow and PyTorch queue a kernel in about ten microseconds of host time; the result hardly moves with it as
  // long as the host is ahead of the device (tools/compare_published.py shows by how much).
  return device.asynchronous ? std::optional<Seconds>(10_us) : std::nullopt;
}

bool has_rate(const Device& device, const WorkloadSpec& workload) {
  return device.peak.contains(workload.precision) ||
         profiled_times(workload.profiles, device.name, workload.precision, 1).has_value();
}

namespace {

/// "10 us", or "ready" for a framework that announces a gradient when it is computed; nothing: as the device works.
std::optional<Seconds> read_host_dispatch(const std::optional<Value>& value, const Device& device) {
  if (!value) return usual_dispatch(device);
  if (value->is_string() && read<std::string>(*value) == "ready") return std::nullopt;
  return read<Seconds>(*value);
}

/// What frameworks do with single precision where nobody says otherwise: its products on tensor units, if there are
/// any.
Precision default_precision(const Device& device) {
  return device.peak.contains(Precision::tf32) ? Precision::tf32 : Precision::fp32;
}

Seconds of_a_sample(const DeviceStep& step) {
  return step.time / step.batch;
}

/// A larger batch takes longer, and a sample of it no longer.
void refuse_contradicting_steps(const Value& where, const DeviceStep& low, const DeviceStep& high) {
  if (low.batch == high.batch) where.fail("one time of a batch", fmt::format("two of batch {}", low.batch));
  if (high.time > low.time && of_a_sample(high) <= of_a_sample(low) * (1 + device_step_noise)) return;
  where.fail(fmt::format("more than {} and at most {} at batch {}, as batch {} takes {}", format(low.time),
                         format(low.time * (static_cast<double>(high.batch) / low.batch)), high.batch, low.batch,
                         format(low.time)),
             format(high.time));
}

/// The variant that a scenario names, else the first, where a sample is a sequence of the length that it asks for.
Model read_variant(Section& section, const ModelSummary& model, const Catalogue& catalogue) {
  const auto variant = section.maybe("variant");
  const Model& chosen =
      choose_variant(model, variant ? read<std::string>(*variant) : "", variant.value_or(section.child("model")));
  const auto length = section.maybe("sequence_length");
  if (!length) return chosen;
  if (chosen.sequence_length == 0) {
    length->fail(fmt::format("no such key: a sample of {} is no sequence", model.name), length->describe());
  }
  const int tokens = read_at_least(*length, 1);
  if (chosen.longest_sequence > 0 && tokens > chosen.longest_sequence) {
    length->fail(fmt::format("at most {} tokens, for which {} has positions", chosen.longest_sequence, model.name));
  }
  if (tokens == chosen.sequence_length) return chosen;
  if (variant) {
    length->fail(fmt::format("{}, the length of variant {}", chosen.sequence_length, quoted(chosen.variant)),
                 length->describe(), "; without \"variant\" any length will do");
  }
  const auto stated = std::ranges::find(model.variants, tokens, &Model::sequence_length);
  return stated != model.variants.end() ? *stated : catalogue.model_at(model, chosen, tokens);
}

Lora read_lora(const Value& where, const Model& model) {
  constexpr int most_rank = 1 << 16;
  Section section(where);
  Lora lora;
  lora.rank = read_between(section.child("rank"), 1, most_rank);
  if (const auto alpha = section.maybe("alpha"); alpha && read<double>(*alpha) <= 0) alpha->fail("a number above 0");
  const Value targets = section.child("targets");
  section.finish();
  std::vector<std::string> known = lora_targets(model);
  if (known.empty()) where.fail("a model with linear layers in blocks", quoted(model.name));
  if (targets.is_string() && read<std::string>(targets) == "all-linear") return lora;
  if (targets.is_string()) targets.fail("\"all-linear\", or a list of names of layers", targets.describe());
  for (const Value& target : targets.elements()) {
    lora.targets.push_back(read<std::string>(target));
    if (with_lora(model, {1, {lora.targets.back()}}).trainable_parameters() == 0)
      target.fail_unknown(fmt::format("the end of a linear layer's name in {}", model.name), known);
  }
  if (lora.targets.empty()) targets.fail("at least one name");
  return lora;
}

Model read_frozen(const Value& where, const Model& model) {
  std::vector<std::string> names;
  for (const Layer& layer : model.layers) {
    for (const Tensor& tensor : layer.tensors) names.push_back(tensor.name);
  }
  std::vector<std::string> patterns;
  for (const Value& value : where.elements()) {
    const std::string& pattern = patterns.emplace_back(read<std::string>(value));
    if (std::ranges::any_of(names, [&](const std::string& name) { return matches(pattern, name); })) continue;
    value.fail(fmt::format("the name of a tensor of {}, in which * is any text", model.name), quoted(pattern),
               suggestion(pattern, names));
  }
  if (patterns.empty()) return model;
  Model frozen = with_frozen(model, patterns);
  if (frozen.trainable_parameters() == 0) where.fail("patterns that leave something to train", "all tensors");
  return frozen;
}

/// What of the model is trained. Layer times in its file are of a model that is trained whole.
void read_trained(Section& section, WorkloadSpec& workload) {
  const auto lora = section.maybe("lora");
  const auto frozen = section.maybe("frozen");
  if (lora && frozen) frozen->fail("no \"frozen\" beside \"lora\", which freezes all but its adapters");
  if (lora) workload.model = with_lora(workload.model, read_lora(*lora, workload.model));
  if (frozen) workload.model = read_frozen(*frozen, workload.model);
  if (!workload.model.is_trained_whole()) workload.profiles.clear();
}

Loss read_loss_of(const Value& where, const Model& model) {
  const auto loss = read_choice<Loss>(where, "a way to compute a loss",
                                      {{"plain", Loss::plain}, {"fused", Loss::fused}, {"chunked", Loss::chunked}});
  if (!model.layers.back().type.ends_with("cross_entropy"))
    where.fail("no \"loss\" of a model without one over a vocabulary", "\"" + read<std::string>(where) + "\"");
  return loss;
}

Recompute read_recompute_of(const Value& where, const Model& model) {
  const Recompute recompute = read_recompute(where);
  if (recompute != Recompute::none && !has_blocks(model)) {
    where.fail(fmt::format("\"none\" for {}, whose layers are in no blocks to compute anew", model.name));
  }
  return recompute;
}

void read_types(Section& section, WorkloadSpec& workload, const Device& device) {
  const auto precision = section.maybe("precision");
  workload.precision = precision ? read_precision(*precision) : default_precision(device);
  if (precision && !has_rate(device, workload)) {
    std::vector<std::string> known;
    for (const auto& [has, rate] : device.peak) {
      if (has != Precision::int8) known.push_back(name(has));
    }
    precision->fail_unknown(fmt::format("a precision that {} has a rate for", device.name), known);
  }
  if (const auto type = section.maybe("gradient_type")) workload.gradient_type = read_gradient_type(*type);
  if (const auto type = section.maybe("parameter_type")) {
    workload.parameter_type = read_number_type(*type, "a type of parameters");
  }
  if (const auto type = section.maybe("optimizer_state_type")) {
    workload.optimizer_state_type = read_number_type(*type, "a type of the optimizer's state");
  }
}

}  // namespace

std::vector<AnchorRun> read_anchored_runs(const Value& where) {
  std::vector<AnchorRun> runs;
  for (const Value& row : where.elements()) {
    Section section(row);
    AnchorRun run;
    run.ranks = read_at_least(section.child("ranks"), 1);
    run.batch = read_at_least(section.child("batch_per_rank"), 1);
    run.accumulation = read_at_least(section.child("accumulation"), 1);
    run.iteration = section.required<Seconds>("iteration");
    run.beside = section.optional("beside", 1.0);
    section.finish();
    runs.push_back(run);
  }
  return runs;
}

double WorkloadSpec::beside(int ranks) const {
  const auto apart = [&](const AnchorRun& run) {
    return std::abs(std::log(static_cast<double>(run.batch) / batch_per_rank));
  };
  std::map<double, double> known;  // by doublings of ranks
  const auto nearest = std::ranges::min_element(anchors, {}, apart);
  for (const AnchorRun& run : anchors) {
    if (run.batch == nearest->batch) known[std::log2(run.ranks)] = run.beside;
  }
  const double at = std::log2(ranks);
  const auto above = known.lower_bound(at);
  if (known.empty()) return 1;
  if (above == known.end()) return known.rbegin()->second;
  if (above == known.begin()) return above->second;
  const auto& [low, least] = *std::prev(above);
  return least + (above->second - least) * ((at - low) / (above->first - low));
}

/// [{"batch": 128, "time": "61 ms"}, ...]: what one device takes alone. In order of batch; a larger one takes longer,
/// and a sample of it no longer.
static std::vector<DeviceStep> read_device_steps(const Value& where) {
  std::vector<DeviceStep> steps;
  for (const Value& row : where.elements()) {
    Section section(row);
    DeviceStep step{read_at_least(section.child("batch"), 1), section.required<Seconds>("time")};
    if (const auto kind = section.maybe("normalisation")) step.normalisation = read_normalisation(*kind);
    step.update = section.optional<Seconds>("update", 0_s);
    section.finish();
    if (!(step.time > 0_s)) row.fail("a time above nothing");
    steps.push_back(step);
  }
  if (steps.empty()) where.fail("the time of at least one batch");
  std::ranges::sort(steps, {}, &DeviceStep::batch);
  for (std::size_t i = 1; i < steps.size(); ++i) refuse_contradicting_steps(where, steps[i - 1], steps[i]);
  return steps;
}

WorkloadSpec read_workload(const Value& where, const Catalogue& catalogue, const Device& device) {
  Section section(where);
  WorkloadSpec workload;
  const Value model = section.child("model");
  const ModelSummary found = catalogue.model(read<std::string>(model), model);
  workload.model = read_variant(section, found, catalogue);
  workload.profiles = catalogue.profiles(found, workload.model);
  if (const auto profile = section.maybe("profile")) choose_profiles(workload.profiles, *profile, device.name);
  read_trained(section, workload);
  const auto batch = section.maybe("batch_per_rank");
  if (batch) workload.batch_per_rank = read_at_least(*batch, 1);
  if (const auto global = section.maybe("global_batch")) {
    if (batch) global->fail("either a \"batch_per_rank\" or a \"global_batch\"");
    workload.global_batch = read_at_least(*global, 1);
  }
  if (const auto optimizer = section.maybe("optimizer"))
    workload.optimizer = read_named(*optimizer, "an optimizer", optimizers(), &Optimizer::name);
  read_types(section, workload, device);
  if (const auto kind = section.maybe("normalisation")) workload.normalisation = read_normalisation(*kind);
  workload.compiled = section.optional("compile", false);
  if (const auto recompute = section.maybe("recompute")) {
    workload.recompute = read_recompute_of(*recompute, workload.model);
  }
  if (const auto loss = section.maybe("loss")) workload.loss = read_loss_of(*loss, workload.model);
  if (const auto share = section.maybe("assumed_efficiency")) workload.assumed_efficiency = read_part(*share);
  workload.host_dispatch = read_host_dispatch(section.maybe("host_dispatch"), device);
  if (const auto steps = section.maybe("device_steps")) workload.device_steps = read_device_steps(*steps);
  workload.anchored_on = section.optional<std::string>("anchored_on", "");
  if (const auto runs = section.maybe("anchored_runs")) workload.anchors = read_anchored_runs(*runs);
  if (const auto ran_on = section.maybe("anchored_device")) carry_anchor(workload, *ran_on, device, catalogue);
  if (const auto measured = section.maybe("measured")) measured->fail("a run, which infers a device's time first");
  if (const auto under = section.maybe("measured_under")) under->fail("\"measured\" runs beside it");
  section.finish();
  return workload;
}

/// Strong scaling: every rank gets an equal part of the global batch, in as many passes as add up.
static void share_global_batch(Scenario& scenario, const Value& where) {
  const int batch = scenario.workload.global_batch;
  if (batch == 0) return;
  const std::int64_t parts = (Count(scenario.replicas()) * scenario.strategy.accumulation).number();
  if (batch % parts != 0) {
    where.fail(fmt::format("a global batch that {} passes of {} ranks share evenly", parts, scenario.replicas()),
               fmt::format("{}", batch));
  }
  scenario.workload.batch_per_rank = static_cast<int>(batch / parts);
}

void share_batch(Scenario& scenario, const Value& workload) {
  share_global_batch(scenario, workload);
  const Count of_rank = Count(scenario.workload.batch_per_rank) * scenario.strategy.accumulation;
  require_at_most(of_rank, std::numeric_limits<int>::max(), "samples of a rank in a step, batch x accumulation",
                  workload);
  require_at_most(of_rank * scenario.replicas(), std::int64_t{1} << 53U, "samples of all ranks in a step", workload);
}

}}  // namespace farandole::scenario
