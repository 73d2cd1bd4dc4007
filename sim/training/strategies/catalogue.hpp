// The catalogue of strategies: how gradients travel. One row per strategy, one file per row.
//
// A row reads its own settings from a scenario's "strategy" and gives a StrategyChoice: everything that is known before
// the job is, and a function that makes the strategy once it is. Called by scenario/; `show strategies` lists the rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/section.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"
#include "training/coding.hpp"
#include "training/compression.hpp"
#include "training/job.hpp"
#include "training/strategies/server_plan.hpp"
#include "training/strategy.hpp"

namespace farandole { inline namespace training {

/// What a strategy is made for. The references must outlive it.
struct StrategySite {
  const Job& job;
  int ranks;
  int ranks_per_node;
  BytesPerSecond memory_bandwidth;  // of a device
  Coder coder;                      // that device, where gradients are compressed
  Seconds control_latency;          // of one small message between hosts
  std::string library;              // that carries collectives out, as timelines name it: "NCCL", "MPI"
  std::uint64_t seed;
  Timeline* timeline;                                   // may be null; records rank 0
  BytesPerSecond to_host = BytesPerSecond::infinity();  // of each rank, while all of its node copy; and back
  int replica = 1;                                      // ranks that train one copy of the model together

  /// Ranks that train the same part of the model, on data of their own.
  [[nodiscard]] int data_parallel() const { return ranks / replica; }
};

/// A number of the strategy's that has been measured elsewhere, within so much.
struct UncertainSetting {
  std::string pointer;  // in a scenario
  std::string what;
  Seconds least;
  Seconds used;
  Seconds most;
  std::string source;
};

struct StrategyChoice {
  std::string kind;
  std::string mode = "synchronous";
  std::string variant{};  // of its kind, as points name it: "FULL_SHARD"
  Settings settings;      // effective ones, printed with the result as "KIND.NAME"
  CompressionSettings compression;
  int accumulation = 1;                  // passes whose gradients add up before they travel
  bool no_sync = true;                   // they add up whole; else every pass reduces them to shards
  bool overlap = true;                   // gradients may travel while others are computed
  Bytes buffers{};                       // set aside on the device; infinity: as much as all gradients
  int streams = 1;                       // collectives that may be under way at the same time
  bool by_gloo = false;                  // whose threads carry them out on the host
  int shards = 0;                        // of parameters, gradients or optimizer state; 0: as many as ranks
  int kept = 0;                          // of these, that keep what was computed forward; 0: all
  int sharding_stage = 0;                // 1: of the optimizer's state, 2: of gradients too, 3: of parameters too
  int blocks_per_unit = 1;               // that are gathered together, where parameters are sharded; 0: all as one
  bool offloads_optimizer = false;       // to the host, which updates
  int tensor_parallel = 1;               // neighbouring ranks that compute every layer together
  bool sequence_parallel = false;        // and share what lies between the layers' products
  int pipeline = 1;                      // stages, each of which has some of the layers; passes are micro-batches
  std::vector<int> pipeline_blocks{};    // of each stage; empty: as many of all
  int expert_parallel = 1;               // neighbouring replicas that share the experts of a layer
  double expert_imbalance = 1;           // tokens of the fullest rank's experts, to the mean
  int period = 1;                        // iterations after which what happens repeats
  bool reduces_through_hosts = false;    // or may, while it tunes itself: Horovod's hierarchical allreduce
  bool negotiates = false;               // what it decides depends on when ranks announce gradients
  std::optional<GradientHooks> hooks{};  // what it does with every gradient within the backward pass
  std::map<Operation, std::string> algorithms;  // that it picks where the scenario leaves them open
  std::vector<std::string> ignored;             // what was pasted and has no meaning here
  std::vector<UncertainSetting> uncertain;      // what nobody has set
  std::function<std::unique_ptr<Strategy>(const StrategySite&)> make;  // with servers: of one rank without them
  /// Ranks that train one copy of the model together.
  [[nodiscard]] int replica() const { return tensor_parallel * pipeline; }
  /// Among how many of `ranks` the optimizer's state is shared.
  [[nodiscard]] int shards_of(int ranks) const {
    if (sharding_stage == 0) return 1;
    return shards == 0 ? ranks / replica() : shards;
  }
  std::optional<ServerPlan> servers;  // where there are any, training/servers carries the strategy out
};

/// What it sends are allgathers, reduce-scatters and allreduces of what ranks have shards of.
inline bool is_sharded(const StrategyChoice& strategy) {
  return strategy.kind == "fsdp" || strategy.kind == "zero";
}

struct StrategyInput {
  Section& section;                                       // "strategy", without its kind
  const std::map<std::string, std::string>& environment;  // HOROVOD_* of a launch line
  int ranks;                                              // that have data of their own
  int pipeline = 1;                                       // stages of a replica
  int ranks_of_node = 0;                                  // of `ranks`; 0: not known
};

struct StrategyRow {
  std::string name;
  std::string summary;
  std::string description;  // what it does and which settings it takes, for `show strategy`
  StrategyChoice (*read)(const StrategyInput& input);
};

std::span<const StrategyRow> strategies();

/// Reads "strategy" of a scenario: its kind, horovod where there is none, and what that takes.
/// `ranks_per_node` where it is known: what a node has together is one group where nobody says which ranks are.
StrategyChoice read_strategy(const Value& where, const std::map<std::string, std::string>& environment, int ranks,
                             int ranks_per_node = 0);

/// "compression", where the strategy takes one.
CompressionSettings read_compression(Section& section);

/// "accumulation": how many passes add up.
int read_accumulation(Section& section);

/// "overlap": whether gradients may travel while others are computed; said in the settings where they may not.
void read_overlap(Section& section, StrategyChoice& choice);

/// What a timeline calls a collective: "NCCL_ALLREDUCE".
std::string activity(const std::string& library, Operation operation);

/// For strategies that HOROVOD_* variables mean nothing to.
void ignore_environment(const StrategyInput& input, StrategyChoice& choice);

}}  // namespace farandole::training
