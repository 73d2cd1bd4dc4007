// Times the kernels of a model's layers on the GPU of this machine: the measurement behind `farandole bench --compute`.
//
// Convolutions and batch normalisation run by cuDNN, products of matrices by cuBLAS, both opened at run time; a layer
// that neither has (activations, pooling, layer norms, embeddings, dropout, losses) is timed as a copy that reads and
// writes as many bytes as it does (workload/kernels.hpp), and the update as one copy a tensor. Attention is its two
// products over what a causal mask leaves, without the softmax between. Every kernel runs alone, many times on the same
// data, so that a small one finds its data in the cache: their sum is a device's part of a step, without its host, its
// input and its communication. Layers of equal shape are timed once.
#pragma once

#include <string>
#include <vector>

#include "units/quantity.hpp"
#include "workload/device.hpp"
#include "workload/model.hpp"

namespace farandole { inline namespace backend {

struct GpuDescription {
  std::string name;
  int compute_capability = 0;  // 80 is 8.0
  int multiprocessors = 0;
  Bytes memory;
  std::string libraries;  // "CUDA 13.0, cuBLAS 13.0.2, cuDNN 9.13.0"
};

/// Of one layer, or of one pass where the others are none of its.
struct KernelTimes {
  Seconds forward;
  Seconds weight_gradient;  // of a layer without arithmetic the whole backward pass
  Seconds input_gradient;
  std::string by;  // "cuBLAS", "cuDNN", "copy" or, of what takes no time, "nothing"
};

struct TimedLayer {
  std::string name;
  Seconds forward;
  Seconds backward;
  std::string by;
};

/// A model in one precision at one batch.
struct TimedModel {
  Precision precision = Precision::fp32;
  int batch = 1;
  std::vector<TimedLayer> layers;
  Seconds update;

  [[nodiscard]] Seconds forward() const;
  [[nodiscard]] Seconds backward() const;
  [[nodiscard]] Seconds step() const { return forward() + backward() + update; }
};

struct ComputeRequest {
  std::vector<Precision> precisions;
  std::vector<int> batches;
  int warmup = 5;
  int repetitions = 20;
};

struct TimedKernels {
  GpuDescription gpu;
  std::vector<TimedModel> models;  // by precision, then by batch
};

/// The library or function that is not there, and why; empty: all that is needed is.
std::string missing_for_compute();

/// The one that kernels are timed on. The libraries are there; std::runtime_error where no device is.
GpuDescription gpu_of_this_machine();

/// Whether the libraries have kernels of their own for it, through the interfaces that are used here.
bool can_time(Precision precision);

/// The libraries are there, and can_time all precisions. std::runtime_error where there is no device, where it has too
/// little memory for a layer, and where a library refuses.
TimedKernels time_kernels(const Model& model, const ComputeRequest& request);

}}  // namespace farandole::backend
