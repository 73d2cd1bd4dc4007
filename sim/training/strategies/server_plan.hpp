// What a scenario says about parameter servers, and what follows from it for a job: which bytes move, where and when.
//
// Read by the rows "parameter_server" and "distributed_replicated", carried out by parameter_server.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "training/compression.hpp"
#include "training/job.hpp"

namespace farandole { inline namespace training {

enum class ServerMode : std::uint8_t { synchronous, asynchronous, stale_synchronous };

struct ServerPlan {
  ServerMode mode = ServerMode::synchronous;
  int bound = 3;  // stale_synchronous: by how many iterations a worker may be ahead of the slowest
  int servers = 1;
  bool colocated = false;                 // servers share the workers' nodes, in turn; else each has a node of its own
  std::string placement = "round_robin";  // of variables: or "by_size", "split"
  std::optional<BytesPerSecond> rate;     // what one server's software handles, both ways together
  bool aggregate_on_node = false;         // gradients of a node's ranks are added up before one copy is pushed
  bool replicated = false;                // every worker has its own copy and fetches what servers averaged
  bool overlap = true;                    // pulls with the forward pass, pushes with the backward pass
  CompressionSettings compression;        // of pushes; fp16 and bf16 of pulls too
};

std::string name(ServerMode mode);

/// A variable, or its part on one server.
struct Shard {
  std::string variable;
  int server = 0;
  Bytes pull;  // 0: nobody needs it
  Bytes push;
  int layer = 0;
  int gradient = -1;  // -1: not trained
  Seconds encode;     // on the worker's device, before it is pushed
  Bytes kept;         // in fp32, as the server keeps it
};

/// What a server's memory moves for a shard once `pushes` of it are there:
///   adding    pushes + kept                            n reads and a write; nothing for a single push
///   updating  gradient + (2 + 2 slots) x kept          reads the sum (or the single push), reads and writes the
///   variable
///                                                      and the optimizer's slots: 3, 5 and 7 times the variable for
///                                                      sgd, momentum and adam
/// A variable that is not trained is read from every push and written. (TensorFlow r1.15: training_ops.cc,
/// ApplyGradientDescent, ApplyMomentum and ApplyAdam read and write so many arrays.)
Bytes server_traffic(const Shard& shard, double pushes, int slots);

/// In the order of the variables. TensorFlow places whole variables over all of them, trained or not, which makes a hot
/// server of the one with the largest; replicated training keeps only trained ones on servers. A variable that is not
/// trained is pushed and never pulled.
std::vector<Shard> shards_of(const Job& job, const ServerPlan& plan, BytesPerSecond memory_bandwidth);

}}  // namespace farandole::training
