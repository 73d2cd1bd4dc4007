#include "training/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "units/format.hpp"

namespace farandole {
namespace {

bool works_in_place(const Layer& layer) {
  return layer.type.starts_with("relu") || layer.type == "dropout";
}

/// Per sample.
double stored_elements(const Model& model) {
  double sum = model.layers.front().input_elements;
  for (const Layer& layer : model.layers) {
    if (!works_in_place(layer)) sum += layer.output_elements;
  }
  return sum;
}

/// The largest batch whose activations leave room for the rest; 0 where the rest alone is too much.
int largest_batch(const MemoryUse& use, int batch) {
  const Bytes room = use.device - (use.total() - use.activations);
  if (room <= Bytes(0)) return 0;
  return std::min(batch, static_cast<int>(room / (use.activations / batch)));
}

}  // namespace

std::span<const Optimizer> optimizers() {
  static const std::array<Optimizer, 3> rows{{{"sgd", 0}, {"momentum", 1}, {"adam", 2}}};
  return rows;
}

MemoryUse memory_use(const Model& model, const Device& device, const MemoryDemand& demand) {
  const auto elements = static_cast<double>(model.parameters());
  const Bytes element = element_size(demand.precision);
  const int master = element == element_size(Precision::fp32) ? 0 : 1;
  MemoryUse use;
  use.parameters = elements * element;
  use.gradients = elements * element_size(demand.gradient_type);
  use.optimizer_state = elements * (demand.optimizer.slots + master) * element_size(Precision::fp32);
  use.activations = demand.batch * stored_elements(model) * element;
  use.fusion_buffers = demand.fusion_buffers;
  use.server_shard = demand.server_shard;
  use.device = device.memory;
  return use;
}

std::string describe(const MemoryUse& use) {
  std::vector<std::string> parts;
  for (const auto& [name, size] :
       {std::pair{"parameters", use.parameters}, std::pair{"gradients", use.gradients},
        std::pair{"optimizer state", use.optimizer_state}, std::pair{"activations", use.activations},
        std::pair{"fusion buffers", use.fusion_buffers}}) {
    if (size > Bytes(0)) parts.push_back(fmt::format("{} {}", name, decimal(size)));
  }
  return fmt::format("{} = {}", decimal(use.total()), fmt::join(parts, " + "));
}

std::vector<std::string> ways_to_fit(const MemoryUse& use, int batch, int ranks) {
  std::vector<std::string> ways;
  if (const int smaller = largest_batch(use, batch); smaller > 0) {
    const int passes = (batch - 1) / smaller + 1;
    ways.push_back(fmt::format("a smaller batch, at most {} per rank", smaller));
    ways.push_back(fmt::format("accumulation, {} passes of {} samples each", passes, (batch - 1) / passes + 1));
  }
  const Bytes shared = use.optimizer_state * (1 - 1.0 / ranks);
  if (ranks > 1 && use.total() - shared <= use.device) {
    ways.push_back(fmt::format("a sharded optimizer, {} less on each of {} ranks", decimal(shared), ranks));
  }
  const double parts = std::ceil(use.total() / use.device);
  ways.push_back(fmt::format("model parallelism, the layers over at least {:.0f} devices", parts));
  return ways;
}

}  // namespace farandole
