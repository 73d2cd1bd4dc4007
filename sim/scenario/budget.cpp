#include "scenario/budget.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "collective/chunk_sizes.hpp"
#include "config/section.hpp"
#include "platform/launch_line.hpp"
#include "scenario/job_clocks.hpp"
#include "simulate/folding/folded_message_clock.hpp"
#include "simulate/folding/moves.hpp"
#include "simulate/folding/parts.hpp"
#include "simulate/recurrence_clock.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

// Measured on one core of a server of 2020 with folded and unfolded runs of all strategies on 8 to 262,144 ranks
// (resnet50, mnist_mlp) and collectives on 500 to 65,536; rounded up.
constexpr double seconds_per_step = 1.5e-6;             // of one layer or tensor in an iteration, whatever the ranks
constexpr double seconds_per_step_and_rank = 4e-9;      // that ranks add to it
constexpr double looked_at_of_sharded = 0.25;           // of these, where others may be stood for; far fewer are usual
constexpr double seconds_per_server_message = 6.5e-6;   // there and back, where workers do not wait for each other
constexpr double seconds_per_rank = 30e-6;              // once
constexpr double seconds_per_point = 3e-3;              // of the smallest
constexpr double seconds_per_transfer = 2e-6;           // of a schedule, once; ten times that where no ranks are alike
constexpr double seconds_per_message = 1.5e-6;          // one by one
constexpr double seconds_per_crossing_message = 15e-6;  // where receivers move on, or ranks that differ send to many
constexpr double seconds_per_moving_message = 0.05e-6;  // likewise, where one rank's rates are everybody's,
constexpr double runs_of_bands = 3;
constexpr double seconds_per_parted_message = 3e-6;  // and at `message`, where a byte parts ranks
constexpr double runs_to_infer = 12;                 // of a measured run, which settle what a device takes,
constexpr double steps_to_infer = 170;               // and the layers and tensors of its usual model
constexpr double bytes_per_rank = 1024;
constexpr double bytes_per_point = 8192;
constexpr double bytes_per_coloured_message = 1500;
constexpr double bytes_per_coloured_link = 8;
constexpr double runs_of_an_explanation = 15;  // nine changes and as many mechanisms, at the ends of bands

/// One of the numbers that multiply, and how large it usually is at most.
struct Factor {
  const char* pointer;
  const char* what;
  double number;
  double usual;
};

/// Of workers that are simulated one by one: that go at their own pace, or of whom the slowest does not say it all
/// (training/servers/server_run.hpp). Servers that split every variable are one where all nodes are on one switch
/// (training/servers/server_network.hpp).
double server_messages(const Scenario& scenario) {
  const auto& servers = scenario.strategy.servers;
  const EffectsSpec& effects = scenario.effects;
  const bool is_one_by_one = effects.communication_compute_share > 0 || effects.input ||
                             (scenario.fidelity == Fidelity::message && effects.ranks_vary());
  if (!servers || (servers->mode == ServerMode::synchronous && !is_one_by_one)) return 0;
  const Platform& platform = scenario.platform.platform;
  const bool are_alike = !servers->colocated && !servers->aggregate_on_node &&
                         servers->compression.kind == Compression::none &&
                         static_cast<int>(platform.links.size()) == platform.first_network_link();
  const double pieces = servers->placement == "split" && !are_alike ? servers->servers : 1;
  return static_cast<double>(scenario.platform.ranks) * scenario.workload.model.tensors() * pieces *
         (scenario.bands ? runs_of_bands : 1);
}

/// Trainings on fewer nodes, of a run that goes on without those under repair: as many as are ever under repair at
/// once, which are Poisson's, with six standard deviations and some.
double elastic_trainings(const Scenario& scenario) {
  if (!scenario.run || !scenario.run->failures || !scenario.run->failures->elastic) return 0;
  const FailureSpec& failures = *scenario.run->failures;
  const int nodes = std::max(1, scenario.platform.placement.nodes_used);
  const double away = failures.repair / failures.mtbf(nodes, scenario.platform.ranks);
  return std::min<double>(std::max(0, nodes - failures.least_nodes), away + 6 * std::sqrt(away) + 3);
}

/// What an iteration has beside the steps of layers and tensors: pieces of computation and what stops it between them,
/// for every pass of every layer whose ranks compute together or share experts; and passes of stages.
struct InnerTasks {
  double of_layers = 0;
  double of_stages = 0;
};

InnerTasks inner_tasks(const Scenario& scenario) {
  constexpr double passes_of_a_layer = 3;  // forward, again, backward
  constexpr double tasks_of_an_exchange = 2;
  constexpr double tasks_of_a_stage = 4;  // a micro-batch: two passes, two exchanges
  const StrategyChoice& strategy = scenario.strategy;
  const double passes = strategy.accumulation;
  double exchanges = 0;
  for (const Layer& layer : scenario.workload.of_rank().layers) {
    exchanges += (layer.gathers > 0 ? 1 : 0) + (layer.sums > 0 ? 1 : 0);
    if (strategy.expert_parallel > 1) exchanges += (layer.dispatched > 0 ? 1 : 0) + (layer.combined > 0 ? 1 : 0);
  }
  InnerTasks tasks;
  tasks.of_layers = exchanges * passes * passes_of_a_layer * tasks_of_an_exchange;
  if (strategy.pipeline > 1) tasks.of_stages = tasks_of_a_stage * passes * strategy.pipeline;
  return tasks;
}

double messages_of(const Schedule& schedule) {
  double sum = 0;
  for (const Phase& phase : schedule.phases) {
    const double bundle = phase.bundle.empty() ? 1 : static_cast<double>(phase.bundle.size());
    sum += static_cast<double>(phase.transfers.size()) * bundle * phase.fan * phase.repeats;
  }
  return sum;
}

/// Of all sizes together; nothing where one message stands for all that are alike.
double seconds_of_a_message(const Schedule& schedule, std::span<const Bytes> sizes, const Workings& workings) {
  const auto all = static_cast<double>(sizes.size());
  const bool by_message = workings.fidelity == Fidelity::message;
  if (by_message && !workings.folds) return all * seconds_per_message;
  if (!workings.alike && workings.coloured > 0) return seconds_per_crossing_message;
  if (std::ranges::none_of(schedule.phases, receivers_move) && !workings.to_all) return 0;
  if (!workings.alike) return all * seconds_per_crossing_message;
  const auto most = [&](Bytes longest) {
    return by_message ? static_cast<double>(FoldedMessageClock::most_uneven(longest))
                      : static_cast<double>(RecurrenceClock::most_uneven);
  };
  const double messages = messages_of(schedule);
  const auto is_one_by_one = [&](Bytes size) {
    const ChunkSizes chunks(size, schedule);
    return !chunks.equal() && !(chunks.differ_by_a_byte() && messages > most(chunks.largest()));
  };
  const double each = by_message ? seconds_per_parted_message : seconds_per_moving_message;
  return static_cast<double>(std::ranges::count_if(sizes, is_one_by_one)) * each;
}

Place place_of_pointer(const Document& document, const std::string& pointer) {
  const auto where = document.find(pointer);
  return where ? where->place() : Place{document.source(), 0, pointer};
}

std::string about(Bytes memory) {
  return fmt::format("{:.0f} GiB", std::ceil(memory / Bytes(1 << 30)));
}

[[noreturn]] void refuse(const std::string& budget, const Cost& cost, Place place, const std::string& takes) {
  if (!cost.pointer.empty()) place.pointer = cost.pointer;
  throw InputError(place, fmt::format("what a --budget of {} allows", budget),
                   fmt::format("{}, which take about {}", cost.what, takes),
                   fmt::format("; --budget \"{}\" allows it", takes.substr(0, takes.find(" of"))));
}

}  // namespace

std::string about(Seconds time) {
  constexpr double minute = 60;
  const double seconds = time / Seconds(1);
  if (seconds < 1) return fmt::format("{:.0f} ms", std::ceil(1000 * seconds));
  if (seconds < 2 * minute) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 2 * minute * minute) return fmt::format("{:.0f} min", std::ceil(seconds / minute));
  return fmt::format("{:.0f} h", std::ceil(seconds / minute / minute));
}

bool are_alike(RoutedSchedule unrouted, Fidelity fidelity) {
  if (fidelity != Fidelity::message) unrouted.forget_network_of_even_exchange();
  unrouted.forget_idle_links();
  const std::optional<Moves> moves = moves_of(unrouted);
  const std::optional<Folding> parts = fold_by_parts(unrouted);
  return (parts && parts->is_worthwhile()) || (moves && 2 * moves->step() <= unrouted.schedule().ranks);
}

Cost cost_of(const Scenario& scenario) {
  const double ranks = scenario.platform.ranks;
  const double period = scenario.strategy.period;  // of which there is at least one
  const double iterations = std::max<double>(scenario.measure.iterations, period) + scenario.measure.warmup;
  const double runs = scenario.seeds * (scenario.explain ? runs_of_an_explanation : 1.0);
  const Model& model = scenario.workload.model;
  const double steps = static_cast<double>(model.layers.size()) + static_cast<double>(model.tensors());
  const InnerTasks inner = inner_tasks(scenario);
  const double of_each_stage = ranks / scenario.strategy.pipeline;
  const double looked_at = meetings_of(scenario, scenario.platform.ranks) ? ranks * looked_at_of_sharded : ranks;
  const double iteration = (steps + inner.of_layers) * (seconds_per_step + looked_at * seconds_per_step_and_rank) +
                           inner.of_stages * (seconds_per_step + of_each_stage * seconds_per_step_and_rank) +
                           server_messages(scenario) * seconds_per_server_message;
  constexpr double iterations_on_fewer_nodes = 12;
  const double fewer = elastic_trainings(scenario) * (ranks * seconds_per_rank + iterations_on_fewer_nodes * iteration);
  const double run = ranks * seconds_per_rank + iterations * iteration;
  const Seconds time(seconds_per_point + runs * run + fewer);
  const bool has_inner = inner.of_layers + inner.of_stages > 0;
  const std::array factors{
      Factor{"/measure/iterations", "iterations", static_cast<double>(scenario.measure.iterations), 100},
      Factor{"/measure/warmup", "iterations to warm up", static_cast<double>(scenario.measure.warmup), 100},
      Factor{"/strategy/period", "iterations from one average to the next", period, 100},
      Factor{"/measure/seeds", "seeds", static_cast<double>(scenario.seeds), 10},
      Factor{"/platform/ranks", "ranks", ranks, 1024},
      Factor{"/strategy/accumulation", "passes that exchange something",
             has_inner ? static_cast<double>(scenario.strategy.accumulation) : 0, 100},
      Factor{"/workload/model", "layers and tensors", steps, 1024}};
  const auto share = [](const Factor& factor) { return factor.number / factor.usual; };
  const Factor& largest = *std::ranges::max_element(factors, {}, share);
  return {time, Bytes(ranks * bytes_per_rank), largest.pointer,
          fmt::format("{} {}", counted(static_cast<std::int64_t>(largest.number)), largest.what)};
}

void require_ranks_within(const Budget& budget, Count ranks, const Place& place) {
  if (ranks > most_devices) return;
  const auto number = static_cast<double>(ranks.number());
  require_within(budget, {Seconds(0), Bytes(number * bytes_per_rank), "", counted(ranks) + " ranks"}, place);
}

Cost cost_of(const Schedule& schedule, std::span<const Bytes> sizes, const Workings& workings) {
  double transfers = 0;
  for (const Phase& phase : schedule.phases) transfers += static_cast<double>(phase.transfers.size());
  const double messages = messages_of(schedule);
  const double seconds = transfers * seconds_per_transfer + messages * seconds_of_a_message(schedule, sizes, workings);
  const double most = 9e18;
  const double links = workings.alike ? 0 : static_cast<double>(workings.coloured);
  const double bytes = links > 0 ? messages * (bytes_per_coloured_message + links * bytes_per_coloured_link) : 0;
  return {Seconds(seconds), Bytes(schedule.ranks * bytes_per_rank + bytes), "",
          counted(static_cast<std::int64_t>(std::min(messages, most))) + " messages between " +
              counted(schedule.ranks) + " ranks"};
}

void require_within(const Budget& budget, const Cost& cost, Place place) {
  if (cost.time > budget.time) {
    refuse(about(budget.time), cost, std::move(place), about(cost.time) + " of one processor");
  }
  if (cost.memory > budget.memory)
    refuse(about(budget.memory), cost, std::move(place), about(cost.memory) + " of memory");
}

/// Device times are inferred before the points are read: every measured run is run a dozen times.
void Expenses::expect_inference(const Document& document) const {
  const auto measured = document.find("/workload/measured");
  const auto* rows = measured ? std::get_if<Node::Array>(&measured->node().value) : nullptr;
  if (rows == nullptr) return;
  const auto number_at = [](const std::optional<Value>& where, int otherwise) {
    const auto* number = where ? std::get_if<std::int64_t>(&where->node().value) : nullptr;
    return static_cast<double>(number != nullptr ? *number : otherwise);
  };
  const double iterations = number_at(document.find("/measure/iterations"), Measure{}.iterations);
  double seconds = 0;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const double ranks = number_at(document.find(fmt::format("/workload/measured/{}/ranks", row)), 1);
    const double iteration = steps_to_infer * (seconds_per_step + ranks * seconds_per_step_and_rank);
    seconds += runs_to_infer * (ranks * seconds_per_rank + iterations * iteration);
  }
  const auto where = document.find("/measure/iterations");
  const bool are_many = where && iterations > static_cast<double>(rows->size());
  const std::string what =
      are_many
          ? counted(static_cast<std::int64_t>(iterations)) + " iterations, run dozens of times to infer device times"
          : counted(static_cast<std::int64_t>(rows->size())) + " measured runs to infer device times from";
  require_within(budget_, {Seconds(seconds), Bytes(0), "", what}, are_many ? where->place() : measured->place());
}

void Expenses::expect_points(const Document& document, Count points) const {
  const auto number = static_cast<double>(points.number());
  const Cost cost{Seconds(number * seconds_per_point) * evaluations_, Bytes(number * bytes_per_point), "",
                  counted(points) + " points"};
  require_within(of_all_, cost, place_of_pointer(document, "/sweep"));
}

void Expenses::expect_ranks(const Document& document, const TextReader& read_file) const {
  expect_inference(document);
  const auto where = document.find("/platform/ranks");
  const auto* ranks = where ? std::get_if<std::int64_t>(&where->node().value) : nullptr;
  if (ranks != nullptr) require_ranks_within(budget_, *ranks, where->place());
  const auto launch = document.find("/platform/launch");
  if (launch && launch->is_string())
    require_ranks_within(budget_, parse_launch_line(read<std::string>(*launch), *launch, read_file).ranks,
                         launch->place());
}

void Expenses::add(const Scenario& scenario, const Document& document) {
  Cost cost = cost_of(scenario);
  cost.time *= evaluations_;
  require_within(budget_, cost, place_of_pointer(document, cost.pointer));
  sum_ += cost.time;
  ++points_;
  const Cost all{sum_, cost.memory, "", fmt::format("{} points or more", counted(points_))};
  require_within(of_all_, all, place_of_pointer(document, "/sweep"));
}

namespace {

/// One of the two parts of a budget; false where the text is no such quantity.
bool take_part(std::string_view text, Budget& budget) {
  if (const auto time = parse_quantity<Seconds>(text); std::holds_alternative<Seconds>(time)) {
    budget.time = std::get<Seconds>(time);
    return true;
  }
  const auto memory = parse_quantity<Bytes>(text);
  if (std::holds_alternative<Bytes>(memory)) budget.memory = std::get<Bytes>(memory);
  return std::holds_alternative<Bytes>(memory);
}

bool take_all(std::string_view text, Budget& budget) {
  const auto comma = text.find(',');
  if (comma == std::string_view::npos) return take_part(text, budget);
  std::string_view second = text.substr(comma + 1);
  if (second.starts_with(' ')) second.remove_prefix(1);
  return take_part(text.substr(0, comma), budget) && take_part(second, budget);
}

}  // namespace

Budget read_budget(const Value& where) {
  Budget budget;
  take_all(default_budget, budget);
  if (!take_all(read<std::string>(where), budget)) {
    where.fail(fmt::format("a time of one processor and memory such as \"{}\", or one of the two", default_budget));
  }
  return budget;
}

}}  // namespace farandole::scenario
