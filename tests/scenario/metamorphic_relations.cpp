// What must hold between the results of two scenarios: never slower with more, as many times slower as everything is.
#include <cmath>

#include <fmt/format.h>

#include "scenario/metamorphic_kit.hpp"
#include "units/format.hpp"

namespace farandole::test {
namespace {

using Violation = std::optional<std::string>;

/// Where more may be later. Noise and traffic come at times of their own, and a shorter iteration may meet more of
/// them. What is read ahead while a slower warm-up lasts is there when the measured iterations begin. Workers that
/// never wait for each other fall into another order, in which one's pushes may go beside another's pulls, which are
/// half of it.
/// Where an exchange goes on beside the next step, workers are not together as measuring begins.
bool comes_in_another_order(const Case& c) {
  return c.has("on_off") || c.has("os_noise") || c.has("asynchronous") || c.has("stale_synchronous") ||
         c.has("overlap_steps") || (c.has("prefetch") && c.scenario["measure"]["warmup"] != 0);
}

/// A link that several flows take is shared alike, so that all of them end late: where one of the workers is late, the
/// others' first gradients are at the servers sooner, or all of them where a longer pass spreads them out; one of two
/// collectives at once ends sooner, and so does a message of an algorithm in which several ranks send to one, or one
/// whose way round about other ranks' messages of the next round share, as `message` has them.
bool shares_links_with_itself(const Case& c) {
  const bool sends_at_once = c.fidelity() == "message" && c.scenario.contains("collectives") && !c.has("\"ring\"");
  return comes_in_another_order(c) || c.strategy() == "parameter_server" || c.strategy() == "distributed_replicated" ||
         c.scenario["strategy"].contains("streams") || sends_at_once ||
         (c.fidelity() == "message" && c.has("adaptive"));
}

/// By how much what begins earlier may end later. Horovod looks once a cycle what is there: a gradient that just makes
/// it into the cycle before goes by itself, and the rest waits for the end of one more.
Seconds granularity(const Case& c) {
  if (c.strategy() != "horovod") return Seconds(0);
  const auto parsed = parse_quantity<Seconds>(c.scenario["strategy"]["cycle_time"].get<std::string>());
  return std::get<Seconds>(parsed);
}

Violation no_slower(const Case& c, const TrainingPoint& faster, const TrainingPoint& slower) {
  if (faster.iteration <= slower.iteration * (1 + 1e-9) + granularity(c)) return "";
  return fmt::format("    {:.9g} s and {:.9g} s: {:.3g} more\n", slower.iteration.si(), faster.iteration.si(),
                     faster.iteration / slower.iteration - 1);
}

/// Of one part alone, which brings some to the rest of it sooner than others. An adaptive router sends some round
/// about, the longer way, where more arrives than its shortest ways carry: what is faster than before beside the rest
/// of the network changes the ways.
Violation with_network_times(const Case& same, const TrainingPoint& own, const char* part, double factor) {
  if (shares_links_with_itself(same) || same.has("adaptive") || !same.topology().contains(part)) return std::nullopt;
  Case changed = same;
  scale_all(changed.topology()[part], Dimension::rate, factor);
  return no_slower(same, run(changed), own);
}

Violation faster_network(const Case& same, const TrainingPoint& own, Random& random) {
  return with_network_times(same, own, "/network", random.between(2, 8));
}

Violation faster_nodes(const Case& same, const TrainingPoint& own, Random& random) {
  return with_network_times(same, own, "/node", random.between(2, 8));
}

Violation faster_links(const Case& same, const TrainingPoint& own, Random& random) {
  if (comes_in_another_order(same)) return std::nullopt;
  const double factor = random.between(2, 16);
  Case changed = same;
  for (const char* part : {"/network", "/node", "/transport"}) {
    if (changed.topology().contains(part)) scale_all(changed.topology()[part], Dimension::rate, factor);
  }
  return no_slower(same, run(changed), own);
}

Violation lower_latency(const Case& same, const TrainingPoint& own, Random& random) {
  if (comes_in_another_order(same)) return std::nullopt;
  const double factor = 1.0 / random.between(2, 8);
  Case changed = same;
  for (const char* part : {"/network", "/node", "/transport"}) {
    if (changed.topology().contains(part)) scale_all(changed.topology()[part], Dimension::time, factor);
  }
  return no_slower(same, run(changed), own);
}

/// By a power of two, which leaves the digits of every number as they are.
Violation all_times(const Case& same, const TrainingPoint& own, Random& random) {
  const double factor = random.one_of<double>({2, 4, 0.5, 0.25});
  Case changed = same;
  for (const char* part : {"workload", "platform", "strategy", "effects"}) {
    if (!changed.scenario.contains(part)) continue;
    scale_all(changed.scenario[part], Dimension::time, factor);
    scale_all(changed.scenario[part], Dimension::rate, 1 / factor);
  }
  put_device(changed, same.device_rate / factor);
  if (changed.has("storage_samples_per_second")) {
    Json& samples = changed.scenario["effects"]["input"]["storage_samples_per_second"];
    samples = samples.get<double>() / factor;
  }
  const TrainingPoint result = run(changed);
  const double ratio = result.iteration / own.iteration / factor;
  if (std::abs(ratio - 1) <= 1e-12) return "";
  return fmt::format("    x {}: {:.17g} s -> {:.17g} s, {:.3g} off\n", factor, own.iteration.si(),
                     result.iteration.si(), ratio - 1);
}

/// But for the host, which issues kernels no faster.
Violation twice_the_device(const Case& same, const TrainingPoint& own, Random&) {
  if (same.scenario["workload"]["host_dispatch"] != "ready" || comes_in_another_order(same)) return std::nullopt;
  Case changed = same;
  put_device(changed, 2 * same.device_rate);
  const TrainingPoint result = run(changed);
  const double ratio = 2 * result.breakdown.compute / own.breakdown.compute;
  if (std::abs(ratio - 1) <= 1e-9) return "";
  return fmt::format("    computes {:.9g} s -> {:.9g} s, {:.3g} off\n", own.breakdown.compute.si(),
                     result.breakdown.compute.si(), ratio - 1);
}

Violation slower_device(const Case& same, const TrainingPoint& own, Random& random) {
  if (shares_links_with_itself(same)) return std::nullopt;
  Case changed = same;
  put_device(changed, same.device_rate / random.between(2, 4));
  return no_slower(same, own, run(changed));
}

Violation fewer_bytes(const Case& same, const TrainingPoint& own, Random&) {
  if (comes_in_another_order(same) || same.has("compression")) return std::nullopt;
  Case changed = same;
  changed.scenario["workload"]["gradient_type"] = "bf16";
  scale_all(changed.scenario["strategy"], Dimension::size, 0.5);  // the same gradients together
  return no_slower(same, run(changed), own);
}

Violation larger_batch(const Case& same, const TrainingPoint& own, Random& random) {
  if (shares_links_with_itself(same) || same.scenario.contains("sweep")) return std::nullopt;
  Case changed = same;
  Json& batch = changed.scenario["workload"]["batch_per_rank"];
  batch = batch.get<int>() * random.between(2, 3);
  return no_slower(same, own, run(changed));
}

Violation straggler(const Case& same, const TrainingPoint& own, Random& random) {
  if (shares_links_with_itself(same) || same.has("straggler")) return std::nullopt;
  Case changed = same;
  changed.scenario["effects"]["straggler"] = {{"ranks", {random.between(0, own.ranks - 1)}}, {"slowdown", "30 %"}};
  return no_slower(same, own, run(changed));
}

Violation slow_link(const Case& same, const TrainingPoint& own, Random& random) {
  if (shares_links_with_itself(same) || same.has("slow_links") || same.has("traffic") ||
      !same.topology()["/node"].contains("nic"))
    return std::nullopt;
  Case changed = same;
  changed.scenario["effects"]["slow_links"] = {{"nodes", {random.between(0, 1)}}, {"rate", "40 %"}};
  return no_slower(same, own, run(changed));
}

Violation repeated(const Case& same, const TrainingPoint& own, Random&) {
  return difference(own, run(same), {"/swept", "/model", "/folded"}, same.folding == FoldingPolicy::never ? 1e-9 : 0);
}

Violation account(const Case& same, const TrainingPoint& own, Random&) {
  std::string result;
  const double iteration = own.iteration.si();
  const auto expect = [&](bool holds, const char* what, double value) {
    if (!holds) result += fmt::format("    {}: {:.17g} of an iteration of {:.17g} s\n", what, value, iteration);
  };
  expect(std::abs(own.breakdown.total() / own.iteration - 1) <= 1e-9, "parts sum up to", own.breakdown.total().si());
  for (const auto& [name, time] : own.breakdown.parts()) expect(time / own.iteration >= -1e-9, name.c_str(), time.si());
  expect(own.iteration_p50 <= own.iteration_p95, "median", own.iteration_p50.si());
  const double samples = own.ranks * own.batch_per_rank * same.scenario["strategy"].value("accumulation", 1);
  expect(std::abs(own.samples_per_second * iteration / samples - 1) <= 1e-9, "samples a second",
         own.samples_per_second);
  expect(own.scaling_efficiency > 0, "efficiency", own.scaling_efficiency);
  // Ranks that share the parameters update a part of them each; run_point holds them to what that saves.
  const bool may_exceed =
      same.has("other_devices") || same.has("\"input\"") || same.strategy() == "fsdp" || same.strategy() == "zero";
  expect(may_exceed || own.scaling_efficiency <= 1 + 1e-5, "efficiency", own.scaling_efficiency);
  return result;
}

/// The waterfall is the iteration, and a change that is offered gives what is said of it.
Violation explanation(const Case& same, const TrainingPoint& own, Random& random) {
  const TrainingPoint explained = run(same, true);
  std::string result;
  Seconds sum;
  for (const WaterfallPart& part : explained.explanation->waterfall) sum += part.time;
  if (std::abs(sum / own.iteration - 1) > 1e-9)
    result += fmt::format("    waterfall of {:.17g} s, iteration {:.17g} s\n", sum.si(), own.iteration.si());
  const std::vector<WhatIf>& offered = explained.explanation->what_ifs;
  if (offered.empty()) return result;
  const WhatIf& what_if = random.one_of(offered);
  Document by_hand = Document::parse(same.scenario.dump(), "drawn.json");
  for (const auto& [pointer, json] : what_if.set) by_hand.set(pointer, json);
  RunOptions options;
  options.folding = same.folding;
  const std::vector<TrainingPoint> points = run_document(by_hand, Catalogue(), options).points;
  if (points.size() != 1) return result + fmt::format("    {}: {} points\n", what_if.change, points.size());
  const Seconds iteration = points.front().iteration;
  if (std::abs(iteration / what_if.iteration - 1) > 1e-12)
    result +=
        fmt::format("    {}: {:.17g} s, by hand {:.17g} s\n", what_if.change, what_if.iteration.si(), iteration.si());
  return result;
}

const std::vector<Relation> all_relations{
    {"faster network", faster_network},
    {"faster nodes", faster_nodes},
    {"faster links", faster_links},
    {"lower latency", lower_latency},
    {"all times", all_times},
    {"twice the device", twice_the_device},
    {"slower device", slower_device},
    {"fewer bytes", fewer_bytes},
    {"larger batch", larger_batch},
    {"straggler", straggler},
    {"slow link", slow_link},
    {"repeated", repeated},
    {"account", account},
    {"what-if by hand", explanation},
};

}  // namespace

std::span<const Relation> relations() {
  return all_relations;
}

}  // namespace farandole::test
