// What changes the network of a machine's file: values to put under a scenario's /platform/override.
//
// Called by `farandole network`, which tries many, and by `farandole new`, whose options name one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole {

/// "6.25 Gbit/s"
std::string in_gigabits(BytesPerSecond rate);

/// Of a job on so many nodes: at most half of them, or it would never leave one.
inline int nodes_of_assumed_leaves(int nodes) {
  return std::clamp(nodes / 2, 1, 16);
}

/// Of a node of a topology file.
std::size_t nics_of(const Document& topology);

class MachineNetwork {
 public:
  using Json = nlohmann::ordered_json;

  /// Of a topology file that is no graph; `where` is blamed (InputError) if its nodes have no NICs.
  MachineNetwork(Document topology, const Value& where);

  [[nodiscard]] const Document& topology() const { return topology_; }
  [[nodiscard]] BytesPerSecond nic() const { return nic_; }
  [[nodiscard]] bool has_switches() const { return topology_.find("/network").has_value(); }
  /// Of a node.
  [[nodiscard]] std::size_t nics() const { return nics_of(topology_); }

  /// NICs at so many times their rate, and all links behind them with them.
  void scale(Json& overrides, double relative) const;
  /// Links between switches at so much of their rate. A network without switches becomes leaves under spines, as much
  /// thinner.
  void thin(Json& overrides, double relative, int nodes) const;
  /// So many of the node's NICs, spread over the places that they have; at most nics().
  void keep_nics(Json& overrides, std::size_t count) const;
  /// NICs and switches speak that protocol ("roce_v2"); the transport's constants are assumed to stay as they are.
  void speak(Json& overrides, const std::string& protocol) const;

 private:
  void scale_switches(Json& overrides, double relative) const;

  Document topology_;
  BytesPerSecond nic_;
};

}  // namespace farandole
