// One iteration of FSDP at `flow`: Llama 3 70B, 80 blocks, on HGX H100 with a fat tree of three levels and 8 rails,
// from the text of the scenario to the point. All ranks share a model, or 8 ranks of a node, or 64 of eight nodes.
//
// The bars: 512 ranks 0.3 s, 16,384 ranks 2 s and 500 MB, of CPU time. Counters: `simulated_seconds`, and `MiB`, the
// most that the process has had so far. Read the CPU column.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "scenario/run.hpp"

namespace farandole { namespace {

/// Pods of 128 nodes: 32 leaves and 32 spines; above them 256 switches, four cables to each from every pod's spines.
constexpr const char* scenario = R"({{
  "name": "fsdp",
  "workload": {{"model": "llama3_70b", "batch_per_rank": 1, "precision": "bf16", "gradient_type": "bf16",
               "optimizer": "adam", "recompute": "full"}},
  "platform": {{"topology": "hgx-h100", "ranks": {}, "override": {{"/nodes": 2048, "/network/levels/1/down": 32,
    "/network/levels/-": {{"name": "core", "parents": 8, "cables": 4, "switch_ports": 64,
                          "link": {{"rate": "400 Gbit/s", "protocol": {{"name": "infiniband"}}}}}}}}}},
  "strategy": {},
  "measure": {{"iterations": 1, "warmup": 0, "fidelity": "flow", "bands": false}}
}})";

void one_iteration(benchmark::State& state, const char* strategy) {
  for (auto _ : state) {
    const Document document = Document::parse(fmt::format(scenario, state.range(0), strategy), "benchmark");
    const RunResult result = run_document(document, Catalogue(), {});
    state.counters["simulated_seconds"] = result.points.front().iteration.si();
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void sizes(benchmark::internal::Benchmark* rows) {
  for (const int ranks : {512, 4096, 16384}) rows->Arg(ranks);
  rows->Unit(benchmark::kMillisecond)->Iterations(1);
}

BENCHMARK_CAPTURE(one_iteration, FULL_SHARD, R"({"kind": "fsdp"})")->Apply(sizes);
BENCHMARK_CAPTURE(one_iteration, HYBRID_SHARD_8,
                  R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 8})")
    ->Apply(sizes);
BENCHMARK_CAPTURE(one_iteration, HYBRID_SHARD_64,
                  R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 64})")
    ->Apply(sizes);

}}  // namespace farandole

BENCHMARK_MAIN();
