// PyTorch's DistributedDataParallel: gradients fill buckets in the order in which they become ready; each bucket's
// allreduce starts when it is full and the one before has been started.
//
// From torch/csrc/distributed/c10d/reducer.cpp and torch/nn/parallel/distributed.py (_ddp_init_helper) of PyTorch 2: a
// bucket closes with the tensor that brings it to its limit (compute_bucket_assignment_by_size), so it may be larger;
// the first one has a limit of its own, 1 MiB, so that communication starts early. In the first iteration there is one
// bucket for everything, and from the second on the order is that of the gradients' arrival (rebuild_buckets).
// With find_unused_parameters, unless the graph is static, buckets are never rebuilt: they are filled in the order in
// which parameters are registered, the small one first, and go in the opposite order, the small one last; and an
// allreduce of one 32-bit number per tensor, which ranks used it, follows the last one.
// An autograd hook per parameter copies its gradient into the bucket, and divides it (mark_variable_ready_dense); with
// gradient_as_bucket_view it only divides, with a communication hook only copies. Those kernels, and the copies back at
// the end (finalize_backward), are on the stream that computes (training/coding.hpp).
// Collectives of a process group of NCCL follow one another. One of Gloo has threads, two unless it is made otherwise
// (ProcessGroupGloo::Options), which each carry out one at a time: "streams".
// Buffers are broadcast from rank 0 before each forward pass. Under no_sync, here "accumulation", only the last of some
// passes communicates.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "config/section.hpp"
#include "training/strategies/bucketed.hpp"
#include "training/strategies/rows.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace training {
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

constexpr double read_and_write = 2;

Bucket ddp_bucket(const Ddp& ddp, const StrategySite& site, std::vector<int> gradients) {
  Bucket bucket = make_bucket(site, ddp.compression, std::move(gradients), 0);
  if (ddp.compression.kind != Compression::power_sgd) bucket.taken_out = std::exchange(bucket.pieces.back().after, {});
  if (ddp.bucket_view) return bucket;
  for (const int gradient : bucket.gradients) {
    const Bytes size = site.job.gradients[static_cast<std::size_t>(gradient)].size;
    bucket.taken_out += kernel_over(site.coder, read_and_write * size);
  }
  return bucket;
}

std::vector<int> in_backward_order(const Job& job) {
  std::vector<int> order(job.gradients.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Gradients of experts travel by themselves, between those ranks that have the same.
void add_buckets(const Ddp& ddp, const StrategySite& site, const std::vector<int>& gradients, std::vector<Bucket>& to) {
  for (const bool of_experts : {false, true}) {
    std::vector<int> own = those_of(gradients, [&](int gradient) {
      return site.job.gradients[static_cast<std::size_t>(gradient)].is_of_experts == of_experts;
    });
    if (own.empty()) continue;
    to.push_back(ddp_bucket(ddp, site, std::move(own)));
    if (of_experts) to.back().group = Group::expert_replicas;
  }
}

std::unique_ptr<Strategy> make_ddp(const Ddp& ddp, const StrategySite& site) {
  const bool rebuilds = ddp.static_graph || !ddp.find_unused;
  const auto buckets = rebuilds ? ddp_buckets(site.job, ddp.first_bucket, ddp.bucket_cap)
                                : registered_buckets(site.job, ddp.first_bucket, ddp.bucket_cap);
  BucketPlan plan;
  for (const auto& gradients : buckets) add_buckets(ddp, site, gradients, plan.buckets);
  if (rebuilds && buckets.size() > 1) {
    add_buckets(ddp, site, in_backward_order(site.job), plan.first);
  }
  if (!rebuilds) plan.used_map = 4_B * static_cast<double>(site.job.gradients.size());
  if (ddp.broadcast_buffers) plan.broadcast = site.job.buffer_bytes();
  return std::make_unique<Bucketed>(site, std::move(plan));
}

/// "bucket_cap", or as PyTorch has it "bucket_cap_mb".
Bytes read_bucket_cap(Section& section, Bytes usual) {
  const auto in_mebibytes = section.maybe("bucket_cap_mb");
  if (!in_mebibytes) return section.optional("bucket_cap", usual);
  if (section.maybe("bucket_cap")) in_mebibytes->fail("either \"bucket_cap\" or \"bucket_cap_mb\"");
  return read_at_least(*in_mebibytes, 0) * 1_MiB;
}

void read_streams(Section& section, StrategyChoice& choice) {
  const auto streams = section.maybe("streams");
  if (!streams) return;
  constexpr int most_streams = 1024;
  choice.streams = read_between(*streams, 1, most_streams);
  choice.by_gloo = choice.streams > 1;
  if (choice.streams > 1 && choice.compression.kind == Compression::power_sgd) {
    streams->fail("one stream with power_sgd, whose allreduces need one another");
  }
  choice.settings["streams"] = fmt::format("{}", choice.streams);
}

StrategyChoice read_ddp(const StrategyInput& input) {
  Ddp ddp;
  ddp.first_bucket = input.section.optional("first_bucket", ddp.first_bucket);
  ddp.bucket_cap = read_bucket_cap(input.section, ddp.bucket_cap);
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
  // powerSGD_hook ends every bucket with torch.cuda.synchronize: nothing is queued beside its allreduces.
  choice.overlap = ddp.compression.kind != Compression::power_sgd;
  read_overlap(input.section, choice);
  read_streams(input.section, choice);
  ignore_environment(input, choice);
  // What the hooks queue. Without a copy or a communication hook a gradient is divided where it is.
  const bool is_idle = ddp.bucket_view && ddp.compression.kind != Compression::none;
  choice.hooks = GradientHooks{is_idle ? 0 : read_and_write};
  choice.make = [ddp](const StrategySite& site) { return make_ddp(ddp, site); };
  return choice;
}

/// In that order; the first bucket has a limit of its own.
std::vector<std::vector<int>> filled(const Job& job, const std::vector<int>& order, Bytes first, Bytes cap) {
  std::vector<std::vector<int>> buckets;
  std::vector<int> open;
  Bytes size;
  for (const int gradient : order) {
    open.push_back(gradient);
    size += job.gradients[static_cast<std::size_t>(gradient)].size;
    if (size < (buckets.empty() ? first : cap)) continue;
    buckets.push_back(std::exchange(open, {}));
    size = Bytes(0);
  }
  if (!open.empty()) buckets.push_back(std::move(open));
  return buckets;
}

}  // namespace

std::vector<std::vector<int>> ddp_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap) {
  return filled(job, in_backward_order(job), first_bucket, bucket_cap);
}

std::vector<std::vector<int>> registered_buckets(const Job& job, Bytes first_bucket, Bytes bucket_cap) {
  std::vector<int> order = in_backward_order(job);
  std::ranges::reverse(order);
  auto buckets = filled(job, order, first_bucket, bucket_cap);
  std::ranges::reverse(buckets);
  return buckets;
}

std::vector<Bucket> usual_ddp_buckets(const StrategySite& site) {
  const Ddp usual;
  return mapped(ddp_buckets(site.job, usual.first_bucket, usual.bucket_cap),
                [&](const std::vector<int>& gradients) { return ddp_bucket(usual, site, gradients); });
}

StrategyRow ddp_strategy() {
  return {
      "ddp", "PyTorch's DistributedDataParallel: buckets in the order of the backward pass, no negotiation",
      "Settings of \"strategy\" in a scenario:\n"
      "  first_bucket             limit of the bucket that goes first (default \"1 MiB\")\n"
      "  bucket_cap               limit of all others (default \"25 MiB\"); \"0 B\": every tensor alone\n"
      "  bucket_cap_mb            the same as PyTorch has it, a number of MiB\n"
      "  gradient_as_bucket_view  true: gradients live in their bucket and are only divided there (default false)\n"
      "  broadcast_buffers        rank 0 sends moving averages before every forward pass (default true)\n"
      "  find_unused_parameters   buckets are filled as parameters are registered and never rebuilt, and an allreduce\n"
      "                           of which parameters were used follows the last one (default false)\n"
      "  static_graph             the same parameters are used every time: rebuilt all the same, and no such\n"
      "                           allreduce (default false)\n"
      "  streams                  allreduces under way at the same time: 1 with NCCL (default), 2 with Gloo\n"
      "  overlap                  false: buckets wait for the end of the backward pass (default true; false with\n"
      "                           power_sgd, whose hook waits for the device)\n"
      "  accumulation             passes whose gradients add up under no_sync before one travels (default 1)\n"
      "  tensor_parallel          neighbouring ranks that compute every layer together (default 1)\n"
      "  sequence_parallel        they share the tokens of what lies between (default false)\n"
      "  pipeline                 stages that have some of the layers each (default 1): accumulation's passes are\n"
      "                           micro-batches in 1F1B, and gradients travel beside the last backward pass\n"
      "  pipeline_blocks          how many blocks each stage has (default: all as many)\n"
      "  expert_parallel          neighbouring replicas that share the experts of a layer (default 1)\n"
      "  expert_imbalance         tokens that come to the fullest of them, to the mean (default 1)\n"
      "  compression              a communication hook: none, fp16, bf16, int8, top_k, one_bit, power_sgd\n",
      read_ddp};
}

}}  // namespace farandole::training
