// Points and headings the report tests print: round numbers, so that golden text can be checked by hand.
#pragma once

#include "report/heading.hpp"
#include "timeline/result.hpp"

namespace farandole {

inline TrainingPoint vgg16_on_512_ranks() {
  TrainingPoint point;
  point.model = "vgg16";
  point.variant = "torchvision";
  point.ranks = 512;
  point.nodes = 128;
  point.platform = "roce25-4xp100";
  point.strategy = "horovod";
  point.mode = "synchronous";
  point.algorithm = "ring";
  point.fidelity = "flow";
  point.batch_per_rank = 64;
  point.precision = "fp32";
  point.gradient_type = "fp32";
  point.compute_source = "measured";
  point.iteration = 0.3125_s;
  point.iteration_p50 = 0.31_s;
  point.iteration_p95 = 0.33_s;
  point.samples_per_second = 104857.6;
  point.scaling_efficiency = 0.68;
  point.breakdown = {0.2_s, 0.1_s, 0.0125_s, 0_s, 0_s, 0_s, 0_s};
  point.collectives_per_iteration = 12;
  point.gradient_bytes = Bytes(553430976);
  point.folded = true;
  return point;
}

inline constexpr const char* rate_pointer = "/platform/override/~1node~1nic~1rate";

/// A point of a sweep over the network's rate and the algorithm.
inline TrainingPoint swept(const std::string& rate, const std::string& algorithm, double efficiency) {
  TrainingPoint point = vgg16_on_512_ranks();
  point.ranks = 128;
  point.scaling_efficiency = efficiency;
  point.algorithm = algorithm;
  point.swept = {{rate_pointer, rate}, {"/collectives/allreduce", algorithm}};
  return point;
}

inline CollectivePoint allreduce_of_a_mebibyte() {
  CollectivePoint point;
  point.operation = "allreduce";
  point.algorithm = "ring";
  point.ranks = 16;
  point.bytes = 1_MiB;
  point.time = 500_us;
  point.algorithm_bandwidth = BytesPerSecond(2097152000);
  point.bus_bandwidth = BytesPerSecond(3932160000);
  point.fidelity = "flow";
  point.folded = true;
  return point;
}

inline Heading heading() {
  return {"demo", {{"seed", "1"}, {"cycle_time", "5 ms"}}};
}

/// The first line of every table with `heading()`.
inline std::string heading_text() {
  return "# farandole " + std::string(version()) + ", scenario demo\n";
}

/// And its last lines.
inline std::string settings_text() {
  return "#\n# Settings\n#   cycle_time: 5 ms\n#   seed: 1\n";
}

}  // namespace farandole
