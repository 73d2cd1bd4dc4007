// Strategies with parameter servers, as a scenario describes them.
#include <array>

#include <fmt/format.h>

#include "collective/tensor_placement.hpp"
#include "config/named.hpp"
#include "config/section.hpp"
#include "training/strategies/rows.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr const char* one_per_node = "one per node";

constexpr std::array modes{ServerMode::synchronous, ServerMode::asynchronous, ServerMode::stale_synchronous};

void read_mode(Section& section, ServerPlan& plan) {
  if (const auto mode = section.maybe("mode"))
    plan.mode = read_named(*mode, "a mode of parameter servers", modes, [](ServerMode one) { return name(one); });
  if (const auto bound = section.maybe("bound")) {
    if (plan.mode != ServerMode::stale_synchronous) bound->fail("no \"bound\" unless \"mode\" is stale_synchronous");
    plan.bound = read_at_least(*bound, 0);
  }
}

std::string read_placement(const Value& where) {
  std::vector<std::string> known = tensor_placement_names();
  known.emplace_back("split");
  return read_named(where, "a placement of variables on servers", known);
}

CompressionSettings read_pushes(Section& section) {
  const auto where = section.maybe("compression");
  if (!where) return {};
  const CompressionSettings compression = read_compression(*where);
  if (compression.kind == Compression::power_sgd) {
    where->fail("a compression of single messages", quoted("power_sgd"), "; it needs allreduces: see ddp and horovod");
  }
  return compression;
}

/// A number, or one on every node of the workers, which is known when these are placed: 0 until then.
int read_servers(const Value& where) {
  constexpr int most_servers_asked_for = 65'536;
  if (!where.is_string()) return read_between(where, 1, most_servers_asked_for);
  if (read<std::string>(where) != one_per_node) where.fail(fmt::format("a number of servers or \"{}\"", one_per_node));
  return 0;
}

ServerPlan read_plan(Section& section, ServerPlan plan) {
  if (const auto servers = section.maybe("servers")) plan.servers = read_servers(*servers);
  plan.colocated = section.optional("colocated", plan.colocated);
  if (const auto placement = section.maybe("server_placement")) plan.placement = read_placement(*placement);
  plan.rate = section.maybe_read<BytesPerSecond>("server_rate");
  plan.aggregate_on_node = section.optional("aggregate_on_node", plan.aggregate_on_node);
  plan.compression = read_pushes(section);
  return plan;
}

StrategyChoice choice_of(const StrategyInput& input, ServerPlan plan) {
  StrategyChoice choice;
  choice.mode = name(plan.mode);
  choice.compression = plan.compression;
  choice.accumulation = read_accumulation(input.section);
  choice.settings = {{"servers", plan.servers > 0 ? fmt::format("{}", plan.servers) : one_per_node},
                     {"colocated", plan.colocated ? "true" : "false"},
                     {"server_placement", plan.placement},
                     {"server_rate", plan.rate ? format(*plan.rate) : "as its links allow"},
                     {"aggregate_on_node", plan.aggregate_on_node ? "true" : "false"}};
  if (plan.mode == ServerMode::stale_synchronous) choice.settings["bound"] = fmt::format("{}", plan.bound);
  read_overlap(input.section, choice);
  plan.overlap = choice.overlap;
  ignore_environment(input, choice);
  choice.servers = plan;
  choice.make = make_alone;
  return choice;
}

StrategyChoice read_parameter_server(const StrategyInput& input) {
  ServerPlan plan;
  read_mode(input.section, plan);
  return choice_of(input, read_plan(input.section, plan));
}

StrategyChoice read_distributed_replicated(const StrategyInput& input) {
  ServerPlan plan;
  plan.replicated = true;
  plan.aggregate_on_node = true;
  return choice_of(input, read_plan(input.section, plan));
}

constexpr const char* common_settings =
    "  servers            how many (default 1), or \"one per node\" of the workers\n"
    "  colocated          true: on the hosts of the workers' nodes, in turn; false: each on a node of its own "
    "(default)\n"
    "  server_placement   of variables: round_robin (TensorFlow's, whole; the default), by_size (whole, to the server\n"
    "                     with the fewest bytes, as tf_cnn_benchmarks places for its parameter_server), split (each "
    "evenly over all servers)\n"
    "  server_rate        what one server's software handles in and out together, such as \"1 GB/s\" (default: as "
    "much\n"
    "                     as its links)\n"
    "  compression        of pushes: none, fp16 and bf16 (of pulls too), int8, top_k, one_bit\n"
    "  overlap            false: all pulls before the forward pass, all pushes after the backward pass (default true)\n"
    "  accumulation       passes whose gradients add up before they are pushed (default 1)\n";

}  // namespace

StrategyRow parameter_server_strategy() {
  return {"parameter_server", "workers push gradients to servers and pull variables back, layer by layer",
          std::string(
              "A layer's forward pass waits for its variables; a gradient is pushed when it is computed.\n"
              "Settings of \"strategy\" in a scenario:\n"
              "  mode               synchronous (default), asynchronous, stale_synchronous\n"
              "  bound              stale_synchronous: iterations a worker may be ahead of the slowest (default 3)\n"
              "  aggregate_on_node  true: a node's ranks add up their gradients and push one (default false)\n") +
              common_settings,
          read_parameter_server};
}

StrategyRow distributed_replicated_strategy() {
  return {
      "distributed_replicated", "servers average gradients; every worker fetches them for a copy of its own",
      std::string("A variable is fetched as soon as all workers have pushed it, while the backward pass goes on.\n"
                  "Settings of \"strategy\" in a scenario:\n"
                  "  aggregate_on_node  true: a node's ranks add up their gradients and push one (default true)\n") +
          common_settings,
      read_distributed_replicated};
}

}}  // namespace farandole::training
