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
#pragma once

#include <string>

#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace workload {

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

}}  // namespace farandole::workload
