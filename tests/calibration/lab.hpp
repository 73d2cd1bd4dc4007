// A small network like the loopback laboratory's, and measurements "taken" on it by the simulator itself.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibration/predictor.hpp"
#include "config/document.hpp"

namespace farandole::test {

/// A star of nodes on 100 Mbit/s with those members of "nic" and "transport".
inline Document lab(const std::string& host_rate = "", const std::string& latency = "0 us",
                    const std::string& launch = "0 us") {
  const std::string host = host_rate.empty() ? "" : R"(, "host_rate": ")" + host_rate + "\"";
  return Document::parse(R"({"name": "lab", "summary": "", "kind": "star", "nodes": "as needed",
    "node": {"devices": 1, "device": "p100", "nic": {"rate": "100 Mbit/s")" +
                             host + R"(}},
    "transport": {"name": "tcp", "inter_node_latency": ")" +
                             latency + R"(", "launch": ")" + launch + R"("}})",
                         "lab.json");
}

inline MeasuredTime row(const std::string& operation, const std::string& algorithm, int ranks, Bytes bytes) {
  MeasuredTime result;
  result.place = {"lab.json", 1, ""};
  result.family = "lab";
  result.operation = operation;
  result.algorithm = algorithm;
  result.ranks = ranks;
  result.bytes = bytes;
  return result;
}

/// Ping-pongs and rings of 2 and 4 from 1 KiB to 4 MiB.
inline std::vector<MeasuredTime> rows() {
  std::vector<MeasuredTime> all;
  for (double size = 1024; size <= 4194304; size *= 4) {
    all.push_back(row(pingpong, "", 2, Bytes(size)));
    all.push_back(row("allreduce", "ring", 2, Bytes(size)));
    all.push_back(row("allreduce", "ring", 4, Bytes(size)));
  }
  return all;
}

/// The same with the times of the simulated truth, each times `noise(index)`.
inline std::vector<MeasuredTime> taken(
    const Document& truth, std::vector<MeasuredTime> all,
    const std::function<double(std::size_t)>& noise = [](std::size_t) { return 1.0; }) {
  const auto times = predict(read_topology(truth.root(), "lab.json"), all);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].time = times[i] * noise(i);
  return all;
}

}  // namespace farandole::test
