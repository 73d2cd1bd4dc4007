// How closely the network is looked at.
//
//   analytic  closed form per round: latency + bytes / (capacity / flows on the most loaded link), no simulator
//   flow      the max-min rates of all pairs of a phase at once, latency counted per round
//   message   every transfer of every round is a flow of its own
//
// The rates are SimGrid's (simulate/fluid_network.hpp), and those of the engine's own network where jobs, streams,
// servers and traffic meet (engine/company.hpp, simulate/max_min_network.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace farandole { inline namespace simulate {

enum class Fidelity : std::uint8_t { analytic, flow, message };

struct FidelityRow {
  Fidelity fidelity;
  std::string name;
  std::string summary;
};
std::span<const FidelityRow> fidelities();
std::string name(Fidelity fidelity);

/// How far a level may lie from `message`: its time over that there, for any algorithm over any number of ranks that
/// start together, on one switch, under leaves or in nodes, where messages wait for their receivers (README.md).
struct LevelBounds {
  double least;
  double most;
  [[nodiscard]] bool covers(double ratio) const { return least <= ratio && ratio <= most; }
};

constexpr LevelBounds bounds_to_message(std::string_view fidelity) {
  if (fidelity == "analytic") return {0.85, 1.5};
  if (fidelity == "flow") return {0.85, 1.35};
  return {1, 1};
}

}}  // namespace farandole::simulate
