#include "training/strategies/server_plan.hpp"

#include <algorithm>
#include <array>

#include "collective/tensor_placement.hpp"
#include "training/coding.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace training {
namespace {

/// Replicas fetch the mean of gradients, other workers the variable, which is fp32; half precision is of both.
Bytes pulled(const ServerPlan& plan, const Variable& variable, const Gradient& gradient) {
  const Bytes whole = plan.replicated ? gradient.size : variable.size;
  const bool is_half = plan.compression.kind == Compression::fp16 || plan.compression.kind == Compression::bf16;
  return is_half ? std::min(whole, variable.size / 2) : whole;
}

/// The whole variable, on no server yet.
Shard whole_variable(const Job& job, const ServerPlan& plan, const Variable& variable, BytesPerSecond memory) {
  if (variable.gradient < 0) {
    return {variable.name, 0, Bytes(0), variable.size, variable.layer, -1, Seconds(0), variable.size};
  }
  const Gradient& gradient = job.gradients[static_cast<std::size_t>(variable.gradient)];
  return {variable.name,
          0,
          pulled(plan, variable, gradient),
          compressed_size(plan.compression, job, gradient),
          variable.layer,
          variable.gradient,
          coding_of(plan.compression, job, gradient, {memory}).encode,
          variable.size};
}

}  // namespace

std::string name(ServerMode mode) {
  constexpr std::array names{"synchronous", "asynchronous", "stale_synchronous"};
  return names[static_cast<std::size_t>(mode)];
}

Bytes server_traffic(const Shard& shard, double pushes, int slots) {
  const Bytes added = pushes * shard.push + shard.kept;
  if (shard.gradient < 0) return added;
  const Bytes state = (2 + 2 * slots) * shard.kept;
  return pushes > 1 ? added + shard.kept + state : shard.push + state;
}

std::vector<Shard> shards_of(const Job& job, const ServerPlan& plan, BytesPerSecond memory_bandwidth) {
  const auto variables =
      those_of(job.variables, [&](const Variable& one) { return one.gradient >= 0 || !plan.replicated; });
  const std::vector<Bytes> sizes = mapped(variables, &Variable::size);
  std::vector<int> servers;
  if (const TensorPlacement* row = find_tensor_placement(plan.placement)) servers = row->place(sizes, plan.servers);
  std::vector<Shard> shards;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    Shard shard = whole_variable(job, plan, variables[i], memory_bandwidth);
    if (!servers.empty()) {
      shard.server = servers[i];
      shards.push_back(std::move(shard));
      continue;
    }
    shard.pull /= plan.servers;
    shard.push /= plan.servers;
    shard.encode /= plan.servers;
    shard.kept /= plan.servers;
    for (shard.server = 0; shard.server < plan.servers; ++shard.server) shards.push_back(shard);
  }
  return shards;
}

}}  // namespace farandole::training
