// For tests of sharded strategies: models of equal units, where every moment can be worked out by hand.
//
// A unit has 2 parameters. In fp32, on 2 ranks and a second per byte, its allgather and its reduce-scatter take 8 s
// each; g and r below. f and b are a unit's forward and backward pass, N the number of units.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "training/job.hpp"

namespace farandole::test {

inline constexpr int N = 5;
inline constexpr double g = 8;
inline constexpr double r = 8;

struct Pass {
  double forward;
  double backward;
};

inline void add_layer(Job& job, const std::string& variable, double parameters, Pass pass) {
  const auto layer = static_cast<int>(job.layers.size());
  job.layers.push_back({Seconds(pass.forward), Seconds(pass.backward)});
  job.backward_end += Seconds(pass.forward + pass.backward);
  if (variable.empty()) return;
  job.gradients.push_back({variable, Bytes(4 * parameters), 0_s, 0_s});
  job.variables.push_back({variable, Bytes(4 * parameters), layer, static_cast<int>(job.gradients.size()) - 1});
}

inline Job units(const std::vector<Pass>& passes, double parameters = 2) {
  Job job;
  for (std::size_t unit = 0; unit < passes.size(); ++unit) {
    add_layer(job, fmt::format("h.{}.weight", unit), parameters, passes[unit]);
  }
  return job;
}
inline Job uniform(double f, double b) {
  return units(std::vector<Pass>(N, {f, b}));
}

inline std::string fsdp(const std::string& settings) {
  return R"({"kind": "fsdp", "param_dtype": "fp32", "reduce_dtype": "fp32", )" + settings + "}";
}
/// Everything in two bytes: a unit's collectives take 4 s.
inline std::string zero(const std::string& settings) {
  return R"({"kind": "zero", )" + settings + "}";
}

inline const std::string full = fsdp(R"("sharding_strategy": "FULL_SHARD")");
inline const std::string grad_op = fsdp(R"("sharding_strategy": "SHARD_GRAD_OP")");

}  // namespace farandole::test
