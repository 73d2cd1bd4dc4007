#include <cctype>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "scenario/metamorphic_kit.hpp"

namespace farandole::test {
namespace {

/// Exact in any unit, and with every factor that a relation uses.
const std::vector<std::string> rates{"10 Gbit/s", "25 Gbit/s", "100 Gbit/s", "5 GB/s", "12.5 GB/s"};
const std::vector<std::string> latencies{"0 us", "1 us", "2 us", "5 us", "20 us"};

/// With all that has a time or a size of its own by default, so that a relation can change it.
const std::vector<std::string> strategies{
    R"({"kind": "horovod", "version": "0.21.0", "cycle_time": "2 ms", "fusion_threshold": "128 MiB", "coordinator_per_message": "400 ns", "coordinator_receives": "400 ns", "coordinator_sends": "400 ns"})",
    R"({"kind": "horovod", "version": "0.9.6", "cycle_time": "5 ms", "fusion_threshold": "64 MiB", "coordinator_per_message": "400 ns", "coordinator_receives": "400 ns", "coordinator_sends": "400 ns"})",
    R"({"kind": "horovod", "version": "0.21.0", "cycle_time": "1 ms", "fusion_threshold": "8 MiB", "coordinator_per_message": "400 ns", "coordinator_receives": "400 ns", "coordinator_sends": "400 ns"})",
    R"({"kind": "ddp", "bucket_cap": "25 MiB", "first_bucket": "1 MiB"})",
    R"({"kind": "ddp", "bucket_cap": "4 MiB", "first_bucket": "1 MiB"})",
    R"({"kind": "ddp", "bucket_cap": "25 MiB", "first_bucket": "1 MiB", "overlap": false, "accumulation": 2})",
    R"({"kind": "ddp", "bucket_cap": "25 MiB", "first_bucket": "1 MiB", "streams": 2})",
    R"({"kind": "ddp", "compression": "fp16"})",
    R"({"kind": "ddp", "compression": "int8"})",
    R"({"kind": "ddp", "compression": {"kind": "power_sgd", "rank": 4}})",
    R"({"kind": "parameter_server", "servers": 1})",
    R"({"kind": "parameter_server", "servers": 2, "server_placement": "split"})",
    R"({"kind": "parameter_server", "servers": "one per node", "colocated": true})",
    R"({"kind": "parameter_server", "servers": 2, "colocated": true, "server_placement": "by_size", "server_rate": "4 GB/s"})",
    R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 2})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1, "servers": 2})",
    R"({"kind": "distributed_replicated", "servers": 2})",
    R"({"kind": "allgather"})",
    R"({"kind": "local_sgd", "period": 2})",
    R"({"kind": "diloco", "inner_steps": 2, "fragments": 2, "overlap_steps": 1})",
    R"({"kind": "fsdp"})",
    R"({"kind": "fsdp", "sharding_strategy": "SHARD_GRAD_OP"})",
    R"({"kind": "zero", "stage": 1})",
    R"({"kind": "zero", "stage": 2})",
    R"({"kind": "zero", "stage": 3})",
};

const std::vector<std::string> allreduces{"ring",
                                          "segmented_ring",
                                          "hierarchical",
                                          "double_tree",
                                          "node_tree",
                                          "recursive_doubling",
                                          "halving_doubling",
                                          "direct",
                                          "plain_ring",
                                          "reduce_broadcast",
                                          "nccl-2.10",
                                          "nccl-2.18",
                                          "openmpi-4",
                                          "mpich",
                                          "mpich-3"};

const std::vector<std::string> effects{
    R"({"step_jitter": "1 %"})",
    R"({"device_spread": "2 %"})",
    R"({"straggler": {"ranks": [1], "slowdown": "20 %"}})",
    R"({"slow_links": {"nodes": [1], "rate": "50 %", "added_latency": "5 us"}})",
    R"({"os_noise": {"period": "20 ms", "duration": "500 us"}})",
    R"({"communication_compute_share": "10 %"})",
    R"({"input": {"storage_samples_per_second": 1000, "prefetch": 2, "variation": "5 %"}})",
    R"({"checkpoint": {"every_steps": 2, "rate": "2 GB/s"}})",
    R"({"other_devices": [{"ranks": [1], "speed": "80 %"}]})",
};

const std::vector<std::string> traffics{
    R"([{"kind": "constant", "links": "*/nic0", "rate": "4 Gbit/s"}])",
    R"([{"kind": "on_off", "links": "*/nic0", "rate": "4 Gbit/s", "on": "4 ms", "off": "4 ms"}])",
};

Json draw_link(Random& random) {
  return {{"rate", random.one_of(rates)}, {"latency", random.one_of(latencies)}};
}

Json draw_node(Random& random) {
  Json node{{"devices", random.one_of<int>({1, 1, 2, 4})}, {"device", ""}, {"nic", draw_link(random)}};
  if (random.chance(20)) node["nic"]["host_rate"] = "20 GB/s";
  if (random.chance(20)) node["nic"]["protocol"] = {{"name", "roce_v2"}};
  if (node["devices"] == 1) return node;
  node["fabric"]["pcie"] = {{"link", {{"rate", "12 GB/s"}, {"latency", random.one_of(latencies)}}}};
  if (random.chance(50)) {
    node["fabric"]["pcie"]["sockets"] = 2;
    node["fabric"]["pcie"]["interconnect"] = {{"rate", "9 GB/s"}};
    if (random.chance(50)) node["nics_at"] = {"socket0", "socket1"};
  }
  if (random.chance(40)) node["fabric"]["nvlink"] = {{"link", {{"rate", "25 GB/s"}}}, {"links_per_device", 2}};
  return node;
}

struct Network {
  std::string kind;
  int nodes = 1;
  Json network{};
};

/// A tree of switches, with hosts below every one.
Network draw_graph(Random& random) {
  Network graph{"graph", random.between(4, 8), {{"hosts", Json::array()}, {"switches", Json::array()}}};
  const int switches = random.between(1, 3);
  Json links = Json::array();
  for (int i = 0; i < switches; ++i) {
    graph.network["switches"].push_back({{"name", fmt::format("s{}", i)}});
    if (i == 0) continue;
    links.push_back({{"from", fmt::format("s{}", random.between(0, i - 1))},
                     {"to", fmt::format("s{}", i)},
                     {"link", draw_link(random)},
                     {"cables", random.between(1, 2)}});
  }
  for (int i = 0; i < graph.nodes; ++i) {
    graph.network["hosts"].push_back(fmt::format("h{}", i));
    links.push_back({{"from", fmt::format("h{}", i)},
                     {"to", fmt::format("s{}", random.between(0, switches - 1))},
                     {"link", draw_link(random)}});
  }
  graph.network["links"] = links;
  return graph;
}

Network draw_network(Random& random) {
  const Json link = draw_link(random);
  const std::string routing = random.one_of<std::string>({"ecmp", "d_mod_k", "spread"});
  switch (random.between(0, 7)) {
    case 0:
      return {"leaf_spine",
              8,
              {{"nodes_per_leaf", random.one_of<int>({2, 4})},
               {"spines", random.between(1, 3)},
               {"link", link},
               {"routing", routing}}};
    case 1: {
      Json levels =
          Json::parse(R"([{"name": "leaf", "down": 2}, {"name": "spine", "down": 2, "parents": 2, "cables": 1},
                                    {"name": "core", "parents": 2, "cables": 1}])");
      levels[1]["link"] = link;
      levels[2]["link"] = draw_link(random);
      return {"fat_tree", 8, {{"levels", levels}, {"routing", routing}}};
    }
    case 2:
      return {"dragonfly",
              12,
              {{"groups", 3},
               {"routers_per_chassis", 2},
               {"nodes_per_router", 2},
               {"rank1", {{"link", link}}},
               {"rank3", {{"cables_per_pair", random.between(1, 2)}, {"link", draw_link(random)}}},
               {"routing", random.one_of<std::string>({"adaptive", "minimal", "valiant"})}}};
    case 3:
      return {"torus", 6, {{"sizes", {3, 2}}, {"link", link}}};
    case 4:
      return draw_graph(random);
    default:
      return {"star", random.between(4, 10)};
  }
}

Json draw_transport(Random& random) {
  Json transport{{"name", "drawn"},
                 {"intra_node_latency", random.one_of(latencies)},
                 {"inter_node_latency", random.one_of(latencies)},
                 {"launch", random.one_of(latencies)},
                 {"control_latency", "5 us"}};
  if (random.chance(15)) transport["reduce_rate"] = "20 GB/s";
  if (random.chance(10)) {
    transport["eager_sends"] = true;
  } else {
    transport["rendezvous"] = {{"from", random.one_of<std::string>({"16 KiB", "64 KiB", "4 MiB"})},
                               {"latency", random.one_of(latencies)}};
  }
  return transport;
}

Json draw_placement(Random& random, int devices) {
  Json placement{{"nodes", "contiguous"}};
  if (devices > 1 && random.chance(30)) placement["ranks_per_node"] = random.between(1, devices);
  if (random.chance(20)) placement["order"] = "by_node";
  return placement;
}

std::filesystem::path folder() {
  static const std::filesystem::path path = [] {
    auto made = std::filesystem::path(testing::TempDir()) / fmt::format("farandole-metamorphic-{}", getpid());
    std::filesystem::create_directories(made);
    return made;
  }();
  return path;
}

std::string write_once(const std::string& name, const std::string& text) {
  const std::filesystem::path file = folder() / name;
  if (!std::filesystem::exists(file)) std::ofstream(file) << text;
  return file;
}

/// Every part of it but numbers, so that modules stay what they are: their names are their places in the model.
std::string other_name(const std::string& name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool ends = i + 1 == name.size() || name[i + 1] == '.';
    result += name[i];
    if (ends && std::isalpha(static_cast<unsigned char>(name[i])) != 0) result += "_of_another";
  }
  return result;
}

void rename_all(Json& json) {
  if (json.is_object() && json.contains("name")) json["name"] = other_name(json["name"]);
  if (json.is_structured()) {
    for (Json& part : json) rename_all(part);
  }
}

}  // namespace

void put_device(Case& of_case, double rate) {
  const std::string name = fmt::format("device{}", fmt::format("{}", rate).find('.') == std::string::npos
                                                       ? fmt::format("{}", rate)
                                                       : fmt::format("{}over1000", rate * 1000));
  const Json device{
      {"name", name},
      {"summary", "of tests"},
      {"peak", {{"fp32", fmt::format("{} TFLOP/s", 10 * rate)}, {"fp16", fmt::format("{} TFLOP/s", 20 * rate)}}},
      {"memory_bandwidth", fmt::format("{} GB/s", 700 * rate)},
      {"memory", "64 GiB"},
      {"host", {{"memory_bandwidth", fmt::format("{} GB/s", 100 * rate)}, {"source", "none"}}},
      {"assumed_efficiency", "40 %"},
      {"measurements", Json::array()},
      {"source", "none"}};
  of_case.device_rate = rate;
  of_case.topology()["/node"]["device"] = write_once(name + ".json", device.dump());
}

std::string model_file(const std::string& name, bool renamed) {
  if (!renamed) return name;
  std::ifstream original(Catalogue().root() / "models" / (name + ".json"));
  Json model = Json::parse(original);
  for (Json& variant : model["variants"]) {
    for (Json& layer : variant["layers"]) rename_all(layer);
  }
  return write_once(name + ".json", model.dump());
}

Json draw_topology(Random& random) {
  const auto [kind, nodes, network] = draw_network(random);
  Json topology{{"/kind", kind}, {"/nodes", nodes}};
  if (!network.is_null()) topology["/network"] = network;
  topology["/node"] = draw_node(random);
  if (kind == "graph") topology["/node"].erase("nic");
  topology["/transport"] = draw_transport(random);
  topology["/variability"] = {{"device_spread", "0 %"}, {"step_jitter", "0 %"}};
  return topology;
}

int devices_of(const Json& topology) {
  return topology["/nodes"].get<int>() * topology["/node"]["devices"].get<int>();
}

Case draw_case(Random& random) {
  Case drawn;
  drawn.scenario = {{"name", "drawn"}, {"workload", {}}, {"platform", {{"topology", "ethernet-25g"}}}};
  drawn.scenario["workload"] = {
      {"model", random.one_of<std::string>({"mnist_mlp", "resnet18", "vgg11", "alexnet", "mobilenet_v2"})},
      {"batch_per_rank", random.one_of<int>({4, 16, 32})},
      {"host_dispatch", random.one_of<std::string>({"ready", "10 us"})}};
  drawn.topology() = draw_topology(random);
  put_device(drawn, 1);
  const bool is_graph = drawn.topology()["/kind"] == "graph";
  const int devices_per_node = drawn.topology()["/node"]["devices"];
  const int devices = devices_of(drawn.topology());
  Json& platform = drawn.scenario["platform"];  // until a member is added beside it
  platform["ranks"] = random.between(2, std::min(12, devices - 2));
  if (random.chance(30)) platform["placement"] = draw_placement(random, devices_per_node);
  if (random.chance(15) && !is_graph) platform["traffic"] = Json::parse(random.one_of(traffics));
  drawn.scenario["strategy"] = Json::parse(random.one_of(strategies));
  if (random.chance(60) && (drawn.strategy() == "horovod" || drawn.strategy() == "ddp") && !drawn.has("int8"))
    drawn.scenario["collectives"] = {{"allreduce", random.one_of(allreduces)}};
  if (random.chance(40)) drawn.scenario["effects"] = Json::parse(random.one_of(effects));
  drawn.scenario["measure"] = {
      {"iterations", random.between(2, 4)},
      {"warmup", random.between(0, 1)},
      {"seed", random.between(1, 1000)},
      {"fidelity", random.one_of<std::string>({"analytic", "analytic", "flow", "flow", "message"})},
      {"bands", false}};
  return drawn;
}

}  // namespace farandole::test
