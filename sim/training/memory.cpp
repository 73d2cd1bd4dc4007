#include "training/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "units/format.hpp"

namespace farandole { inline namespace training {
namespace {

bool is_half_size(Bytes element) {
  return element < element_size(GradientType::fp32);
}

GradientType parameter_type_of(const MemoryDemand& demand) {
  const bool was_cast =
      is_half_size(element_size(demand.precision)) && is_half_size(element_size(demand.gradient_type));
  return demand.parameter_type.value_or(was_cast ? demand.gradient_type : GradientType::fp32);
}

/// Of single-precision parameters that are cast for computing, every rank keeps the cast ones; those that the optimizer
/// changes are shared as its state is.
Bytes parameters_of(double elements, const MemoryDemand& demand) {
  const Bytes kept = elements * element_size(parameter_type_of(demand));
  const bool casts =
      !is_half_size(element_size(parameter_type_of(demand))) && is_half_size(element_size(demand.precision));
  if (!casts) return kept * demand.sharding.share(3);
  const Bytes cast = elements * element_size(demand.precision);
  return kept * demand.sharding.share(1) + (demand.sharding.share(3) == 1 ? cast : 0_B);
}

Bytes optimizer_state_of(double elements, const MemoryDemand& demand) {
  const Bytes number = element_size(demand.optimizer_state_type);
  const int master = is_half_size(element_size(parameter_type_of(demand))) && !is_half_size(number) ? 1 : 0;
  return elements * (demand.optimizer.slots + master) * number * demand.sharding.share(1);
}

Bytes gathered(const Model& model, const MemoryDemand& demand) {
  if (demand.sharding.share(3) == 1) return 0_B;
  double outside = 0;
  std::map<std::string, int> numbers;
  std::map<int, double> units;
  for (const Layer& layer : model.layers) {
    const auto parameters = static_cast<double>(layer.parameters());
    if (layer.block.empty() || demand.blocks_per_unit == 0) {
      outside += parameters;
    } else {
      const int block = numbers.try_emplace(layer.block, static_cast<int>(numbers.size())).first->second;
      units[block / demand.blocks_per_unit] += parameters;
    }
  }
  std::array<double, 2> largest{};
  for (const auto& [unit, elements] : units) {
    largest = {std::max(largest[0], elements), std::max(largest[1], std::min(largest[0], elements))};
  }
  return (outside + largest[0] + largest[1]) * element_size(demand.precision);
}

/// FSDP adds up what a backward pass leaves, in its precision; FSDP2 in that of the reduction, which is no shorter.
Bytes gradients_of(double elements, const MemoryDemand& demand) {
  const Bytes number = element_size(demand.gradient_type);
  const Bytes shard = elements * number * demand.sharding.share(2);
  if (!demand.adds_up_whole) return shard;
  return std::max(shard, elements * std::min(number, element_size(demand.precision)));
}

}  // namespace

std::span<const Optimizer> optimizers() {
  static const std::array<Optimizer, 3> rows{{{"sgd", 0}, {"momentum", 1}, {"adam", 2}}};
  return rows;
}

MemoryEstimate memory_use(const Model& model, const Device& device, const MemoryDemand& demand) {
  const auto elements = static_cast<double>(model.parameters());
  MemoryEstimate use;
  use.parameters = parameters_of(elements, demand);
  use.gradients = gradients_of(elements, demand);
  use.optimizer_state = optimizer_state_of(elements, demand);
  const auto activations = [&](std::optional<Bytes> input) {
    return demand.batch *
           activations_of_a_sample(model, element_size(demand.precision), demand.recompute, demand.in_flight, input);
  };
  use.activations = activations({});
  if (demand.precision == Precision::fp8) use.spared = use.activations - activations(1_B);
  use.fusion_buffers = demand.fusion_buffers;
  use.gathered = gathered(model, demand);
  use.server_shard = demand.server_shard;
  use.device = device.memory;
  return use;
}

std::string describe(const MemoryUse& use) {
  std::vector<std::string> parts;
  for (const auto& [name, size] :
       {std::pair{"parameters", use.parameters}, std::pair{"gradients", use.gradients},
        std::pair{"optimizer state", use.optimizer_state}, std::pair{"activations", use.activations},
        std::pair{"fusion buffers", use.fusion_buffers}, std::pair{"gathered parameters", use.gathered}}) {
    if (size > Bytes(0)) parts.push_back(fmt::format("{} {}", name, decimal(size)));
  }
  return fmt::format("{} = {}", decimal(use.total()), fmt::join(parts, " + "));
}

int largest_batch(const MemoryUse& use, int batch) {
  const Bytes room = use.device - (use.total() - use.activations);
  if (room <= Bytes(0)) return 0;
  return std::min(batch, static_cast<int>(room / (use.activations / batch)));
}

std::vector<std::string> ways_to_fit(const MemoryUse& use, int ranks) {
  std::vector<std::string> ways;
  const Bytes shared = use.optimizer_state * (1 - 1.0 / ranks);
  if (ranks > 1 && use.total() - shared <= use.device) {
    ways.push_back(fmt::format("a sharded optimizer, {} less on each of {} ranks", decimal(shared), ranks));
  }
  const double parts = std::ceil(use.total() / use.device);
  ways.push_back(fmt::format("model parallelism, the layers over at least {:.0f} devices", parts));
  return ways;
}

}}  // namespace farandole::training
