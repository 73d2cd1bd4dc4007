// A device that computes (a GPU or a many-core CPU): its peak rates, memory, and what was measured on it.
//
// What a file in topologies/devices/ describes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole {

enum class Precision : std::uint8_t { fp32, fp16 };
std::string name(Precision precision);
/// Reads "fp32" or "fp16".
Precision read_precision(const Value& where);
/// Bytes of one gradient element.
Bytes element_size(Precision precision);

/// One published single-device training throughput.
struct Measurement {
  std::string set;  // which system and software it was measured with, e.g. "horovod-2017-09"
  std::string model;
  std::string variant;
  Precision precision = Precision::fp32;
  int batch = 0;  // 0 where the source does not state it
  double samples_per_second = 0;
  std::string source;
};

/// Devices that share one board's power budget, and by how much each is slower while the others compute too.
struct Board {
  int devices = 1;
  std::optional<double> slowdown;  // 0.1: ten percent more time; empty where nobody measured it
};

struct Device {
  std::string name;
  std::string summary;
  std::filesystem::path file;
  std::map<Precision, FlopPerSecond> peak;  // dense multiply-add rate counted as two operations
  BytesPerSecond memory_bandwidth;
  BytesPerSecond host_memory_bandwidth;  // of the node it stands in: a CPU's own, and where nothing is known of a host
  Bytes memory;
  /// A GPU works through a queue that its host fills ahead of it; a CPU does one thing after the other.
  bool asynchronous = true;
  Board board;
  int compute_capability = 0;     // of CUDA: 80 is 8.0; 0: no CUDA device
  int multiprocessors = 0;        // that share its compute rate evenly; 0: not known
  double assumed_efficiency = 0;  // share of peak a convolutional network reaches where nothing was measured
  std::vector<Measurement> measurements;
};

/// `where` is the document's root. Every rate, the memory and every throughput must be positive.
Device read_device(const Value& where, const std::filesystem::path& file);

}  // namespace farandole
