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

namespace farandole { inline namespace workload {

// How far a step may lie from what it is estimated to take.
//
// Read from topologies/devices/kernels/fitted.json, where tools/fit_kernels.py writes the errors of estimates that had
// not seen the step (tools/kernel_bands.py): from the 10th to the 90th percentile of measured over estimated. Which
// band holds depends on what was measured of the device; one with less to go on is never narrower. A measured step at
// another batch is uncertain by a factor for each doubling in between, and by no more than an estimate is.

/// Factors of the time: a step takes from `least` to `most` times what is said. {1, 1}: it was measured.
struct TimeBand {
  double least = 1;
  double most = 1;
  [[nodiscard]] bool is_open() const { return most > least; }
};

/// What an estimate rests on: models of its family (by name: a model is of the first that its name has in it) measured
/// on the device in that precision, those of others only, in other precisions only, on its generation only, on other
/// generations, or a share of the roofline that is the same for all layers.
struct EstimateBands {
  double probability = 0;  // that the step lies in its band
  std::vector<std::string> families;
  TimeBand model;
  TimeBand family;
  TimeBand precision;
  TimeBand device;
  TimeBand generation;
  TimeBand constant_share;
  double batch_doubled = 1;  // a measured step scaled to twice or half its batch
};

/// `where` is the "bands" of the fitted kernels.
EstimateBands read_estimate_bands(const Value& where);

/// Of a step that was measured at these batches, and would have `estimate` if it were not.
TimeBand band_beside(const std::vector<int>& batches, int batch, double batch_doubled, const TimeBand& estimate);

/// "-25 to +30 %".
std::string describe(const TimeBand& band);

// How fast a generation of GPUs runs the kernels of training, as fitted to measured throughputs.
//
// Read from topologies/devices/kernels/fitted.json, which tools/fit_kernels.py writes; the catalogue puts them into a
// device. Shares are of the device's own peaks. A matrix product or convolution of which one output sums K products and
// N outputs share their inputs reaches
//   share x h / (h + half),  h = 2 N K / (N + K)
// of the arithmetic peak: its multiply-adds per element of input read, of which a unit needs so many to be busy. Layers
// without arithmetic reach a share of the memory's bandwidth. Every kernel takes `launch` more, to start and to drain,
// and one of arithmetic `tail` times what a multiprocessor takes for a tile of its output: the last wave of tiles fills
// only some of the multiprocessors, half of them in the mean (wave quantisation in NVIDIA's Matrix Multiplication
// Background User's Guide).

/// Of one kind of arithmetic unit.
struct MathRates {
  double convolution = 0;  // share of peak
  double convolution_half = 0;
  double matmul = 0;  // share of peak
  double matmul_half = 0;
};

struct KernelRates {
  std::string generation;
  bool known = false;         // fitted to devices of this generation; otherwise the mean of all
  bool tensor_units = false;  // half precision has units of its own
  Seconds launch;
  double tail = 0;          // tiles
  double memory = 0;        // share of bandwidth of normalisation, activation, pooling and the update
  double pointwise = 0;     // and of what transformers have between products: layer norm, softmax, GELU, additions
  double fast_filters = 1;  // on vector units: products saved where a filter of 3 x 3 or more moves by one
  MathRates vector;         // fp32, and half precision without tensor units
  MathRates tensor16;       // fp16, bf16, fp8
  MathRates tensor32;       // tf32
};

/// `where` is the root of the file of fitted rates. A generation that it does not know gets the mean of all.
KernelRates read_kernel_rates(const Value& where, const std::string& generation);

/// What the arithmetic of convolutions and matrix products is done in. tf32 is fp32 in memory with the products on
/// tensor units; fp8 holds the factors of a product only, all else is bf16; int8 is inference's, known for its peak
/// alone.
enum class Precision : std::uint8_t { fp32, tf32, bf16, fp16, fp8, int8 };
std::string name(Precision precision);
/// Reads one that training computes in: all but int8.
Precision read_precision(const Value& where);
/// Bytes of one gradient or activation element.
Bytes element_size(Precision precision);

/// Where a program computes batch normalisation, which is a matter of passes over what it normalises.
enum class Normalisation : std::uint8_t {
  separate,                   // in kernels of its own, and the ReLU behind it in others: PyTorch, TensorFlow
  with_activation,            // the ReLU in the same kernels: MXNet's BatchNorm with act_type, XLA
  statistics_in_convolution,  // what the convolution before it writes it also sums up, too: resnet-v1b-stats-fl
  in_convolution  // and the convolution behind it applies it, ReLU and all, as it reads: NormalizedConvolution
};
std::string name(Normalisation normalisation);
Normalisation read_normalisation(const Value& where);

/// What a program makes one kernel of that its model has as several layers.
struct Fusion {
  Normalisation normalisation = Normalisation::separate;
  bool compiled = false;  // by torch.compile: workload/kernels.hpp

  friend bool operator==(const Fusion&, const Fusion&) = default;
};

/// One published single-device training throughput.
struct Measurement {
  std::string set;  // which system and software it was measured with, e.g. "horovod-2017-09"
  std::string model;
  std::string variant;
  Precision precision = Precision::fp32;
  Normalisation normalisation = Normalisation::separate;
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
  std::string gfx;                // of ROCm, LLVM's name: "gfx90a"; empty: no ROCm device
  int multiprocessors = 0;        // or cores, that share its compute rate evenly; 0: not known
  double assumed_efficiency = 0;  // share of the roofline where nothing was measured; 0: `kernels` say
  std::string generation;         // of GPUs, whose fitted rates hold for it; empty: none are
  std::optional<KernelRates> kernels;
  std::optional<EstimateBands> bands;  // empty: nothing is known of how good estimates are
  std::vector<Measurement> measurements;
};

/// `where` is the document's root. Every rate, the memory and every throughput must be positive. Leaves `kernels`
/// and `bands` empty: they are another file's.
Device read_device(const Value& where, const std::filesystem::path& file);

}}  // namespace farandole::workload
