// PyTorch's DistributedDataParallel: gradients fill buckets in the order in which they become ready; each bucket's
// allreduce starts when it is full and the one before has been started.
//
// From torch/csrc/distributed/c10d/reducer.cpp: a bucket closes with the tensor that brings it to its limit
// (compute_bucket_assignment_by_size), so it may be larger; the first one has a limit of its own, 1 MiB, so that
// communication starts early; from the second iteration on the order is that of the gradients' arrival
// (rebuild_buckets). Gradients are copied into the bucket and back, unless they live in it (gradient_as_bucket_view).
// With find_unused_parameters an allreduce of one 32-bit number per tensor, which ranks used it, follows the last
// bucket; with static_graph that is known after the first iteration, which sends everything at its end.
// Collectives of a process group of NCCL follow one another. One of Gloo has threads, two unless it is made otherwise
// (ProcessGroupGloo::Options), which each carry out one at a time: "streams".
// Buffers are broadcast from rank 0 before each forward pass. Under no_sync, here "accumulation", only the last of some
// passes communicates.
#include <fmt/format.h>

#include "config/limits.hpp"
#include "training/strategies/bucketed.hpp"
#include "training/strategies/ddp_buckets.hpp"
#include "training/strategies/rows.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

struct Ddp {
  Bytes first_bucket = 1_MiB;
  Bytes bucket_cap = 25_MiB;
  bool bucket_view = false;
  bool broadcast_buffers = true;
  bool find_unused = false;
  bool static_graph = false;
  CompressionSettings compression;
};

std::unique_ptr<Strategy> make(const Ddp& ddp, const StrategySite& site) {
  constexpr double read_and_write = 2;
  BucketPlan plan;
  for (auto& gradients : ddp_buckets(site.job, ddp.first_bucket, ddp.bucket_cap)) {
    plan.buckets.push_back(
        make_bucket(site, ddp.compression, std::move(gradients), ddp.bucket_view ? 0 : read_and_write));
  }
  if (ddp.find_unused && !ddp.static_graph) plan.used_map = 4_B * static_cast<double>(site.job.gradients.size());
  plan.first_at_the_end = ddp.static_graph;
  if (ddp.broadcast_buffers) plan.broadcast = site.job.buffer_bytes();
  return std::make_unique<Bucketed>(site, std::move(plan));
}

void read_streams(Section& section, StrategyChoice& choice) {
  const auto streams = section.maybe("streams");
  if (!streams) return;
  constexpr int most_streams = 1024;
  choice.streams = read_between(*streams, 1, most_streams);
  if (choice.streams > 1 && choice.compression.kind == Compression::power_sgd) {
    streams->fail("one stream with power_sgd, whose second allreduce needs the first");
  }
  choice.settings["streams"] = fmt::format("{}", choice.streams);
}

StrategyChoice read(const StrategyInput& input) {
  Ddp ddp;
  ddp.first_bucket = input.section.optional("first_bucket", ddp.first_bucket);
  ddp.bucket_cap = input.section.optional("bucket_cap", ddp.bucket_cap);
  ddp.bucket_view = input.section.optional("gradient_as_bucket_view", ddp.bucket_view);
  ddp.broadcast_buffers = input.section.optional("broadcast_buffers", ddp.broadcast_buffers);
  ddp.find_unused = input.section.optional("find_unused_parameters", ddp.find_unused);
  ddp.static_graph = input.section.optional("static_graph", ddp.static_graph);
  ddp.compression = read_compression(input.section);
  StrategyChoice choice;
  choice.compression = ddp.compression;
  choice.accumulation = read_accumulation(input.section);
  if (!ddp.bucket_view) choice.buffers = Bytes::infinity();
  choice.settings = {{"first_bucket", format(ddp.first_bucket)},
                     {"bucket_cap", format(ddp.bucket_cap)},
                     {"gradient_as_bucket_view", ddp.bucket_view ? "true" : "false"},
                     {"broadcast_buffers", ddp.broadcast_buffers ? "true" : "false"},
                     {"find_unused_parameters", ddp.find_unused ? "true" : "false"},
                     {"static_graph", ddp.static_graph ? "true" : "false"}};
  read_overlap(input.section, choice);
  read_streams(input.section, choice);
  ignore_environment(input, choice);
  choice.make = [ddp](const StrategySite& site) { return make(ddp, site); };
  return choice;
}

}  // namespace

std::vector<std::vector<int>> ddp_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap) {
  std::vector<std::vector<int>> buckets;
  std::vector<int> open;
  Bytes filled;
  for (std::size_t gradient = 0; gradient < job.gradients.size(); ++gradient) {
    open.push_back(static_cast<int>(gradient));
    filled += job.gradients[gradient].size;
    if (filled < (buckets.empty() ? first_bucket : bucket_cap)) continue;
    buckets.push_back(std::exchange(open, {}));
    filled = Bytes(0);
  }
  if (!open.empty()) buckets.push_back(std::move(open));
  return buckets;
}

StrategyRow ddp_strategy() {
  return {
      "ddp", "PyTorch's DistributedDataParallel: buckets in the order of the backward pass, no negotiation",
      "Settings of \"strategy\" in a scenario:\n"
      "  first_bucket             limit of the bucket that goes first (default \"1 MiB\")\n"
      "  bucket_cap               limit of all others (default \"25 MiB\"); \"0 B\": every tensor alone\n"
      "  gradient_as_bucket_view  true: gradients live in their bucket and are not copied (default false)\n"
      "  broadcast_buffers        rank 0 sends moving averages before every forward pass (default true)\n"
      "  find_unused_parameters   an allreduce of which parameters were used follows the last bucket (default false)\n"
      "  static_graph             the same parameters are used every time: no such allreduce, and the first\n"
      "                           iteration sends everything at its end (default false)\n"
      "  streams                  allreduces under way at the same time: 1 with NCCL (default), 2 with Gloo\n"
      "  overlap                  false: buckets wait for the end of the backward pass (default true)\n"
      "  accumulation             passes whose gradients add up under no_sync before one travels (default 1)\n"
      "  compression              a communication hook: none, fp16, bf16, int8, top_k, one_bit, power_sgd\n",
      read};
}

}  // namespace farandole
