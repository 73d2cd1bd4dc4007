#include "collective/tensor_placement.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "units/mapped.hpp"

namespace farandole { inline namespace collective {
namespace {

std::size_t count_of(int servers) {
  if (servers < 1) throw std::invalid_argument(fmt::format("tensors on {} servers", servers));
  return static_cast<std::size_t>(servers);
}

}  // namespace

std::vector<int> place_round_robin(std::span<const Bytes> tensors, int servers) {
  std::vector<int> result;
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    result.push_back(static_cast<int>(tensor % count_of(servers)));
  }
  return result;
}

std::vector<int> place_by_size(std::span<const Bytes> tensors, int servers) {
  std::vector<Bytes> load(count_of(servers));
  std::vector<int> result;
  for (const Bytes size : tensors) {
    const auto least = std::ranges::min_element(load);
    *least += size;
    result.push_back(static_cast<int>(least - load.begin()));
  }
  return result;
}

std::vector<std::vector<Bytes>> shards_of(std::span<const Bytes> tensors, const std::vector<int>& server_of_tensor,
                                          int servers) {
  std::vector<std::vector<Bytes>> shards(count_of(servers));
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    shards.at(static_cast<std::size_t>(server_of_tensor.at(tensor))).push_back(tensors[tensor]);
  }
  return shards;
}

std::span<const TensorPlacement> tensor_placements() {
  static const std::array<TensorPlacement, 2> rows{{
      {"round_robin", "whole tensors in turn, as TensorFlow's replica_device_setter", place_round_robin},
      {"by_size",
       "whole tensors, each to the server with the fewest bytes so far, as tf_cnn_benchmarks' parameter_server",
       place_by_size},
  }};
  return rows;
}

const TensorPlacement* find_tensor_placement(const std::string& name) {
  const auto rows = tensor_placements();
  const auto found = std::ranges::find(rows, name, &TensorPlacement::name);
  return found == rows.end() ? nullptr : &*found;
}

std::vector<std::string> tensor_placement_names() {
  return mapped(tensor_placements(), &TensorPlacement::name);
}

}}  // namespace farandole::collective
