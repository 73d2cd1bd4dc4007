// Which parameter server keeps which tensor, and what every server is left with.
//
// Called by whoever knows a model's tensors and wants its shards: the command line, training strategies. Pure
// functions; results have one server per tensor, in the tensors' order. All throw std::invalid_argument for less than
// one server.
//
// Sources: tensorflow/python/training/device_setter.py (replica_device_setter with _RoundRobinStrategy, its default)
// and tensorflow/contrib/training/python/training/device_setter.py (GreedyLoadBalancingStrategy with byte_size_load_fn)
// of github.com/tensorflow/tensorflow, r1.15.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace collective {

/// Tensor i on server i mod servers, whole.
std::vector<int> place_round_robin(std::span<const Bytes> tensors, int servers);

/// One tensor after the other, whole, on the server that has the fewest bytes so far; of several, the first.
std::vector<int> place_by_size(std::span<const Bytes> tensors, int servers);

/// The tensors of each server, in their order, for a placement of the above.
std::vector<std::vector<Bytes>> shards_of(std::span<const Bytes> tensors, const std::vector<int>& server_of_tensor,
                                          int servers);

/// A way to place whole tensors, by name.
struct TensorPlacement {
  std::string name;
  std::string summary;
  std::vector<int> (*place)(std::span<const Bytes> tensors, int servers);
};

std::span<const TensorPlacement> tensor_placements();
/// The row, or nullptr.
const TensorPlacement* find_tensor_placement(const std::string& name);
std::vector<std::string> tensor_placement_names();

}}  // namespace farandole::collective
