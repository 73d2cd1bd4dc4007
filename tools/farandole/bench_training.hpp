// What `farandole bench` measures instead of collectives.
//
//   --training SCENARIO.json  a scenario's iterations, run for real
//   --compute MODEL           the kernels of a model's layers on a GPU (backend/compute_bench.hpp)
#pragma once

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "output_options.hpp"

namespace farandole {

struct BenchTraining {
  std::string scenario;
  std::vector<std::string> settings;  // --set
  std::string timeline;               // file; empty: none

  /// After the options that say which collective, with which they do not go together.
  void add_to(CLI::App& command);
};

struct BenchCompute {
  std::string model;
  std::string variant;  // empty: the model's first
  std::vector<std::string> precisions{"fp16"};
  std::vector<std::string> batches{"1", "8", "64"};
  std::string device;       // that the GPU is; empty: the one of the catalogue with its numbers
  std::string model_file;   // to write: the model with what was measured as profiles
  std::string device_file;  // to write: the device with what was measured among its measurements

  /// As those of BenchTraining, with which they do not go together either.
  void add_to(CLI::App& command);
};

void bench_compute(const BenchCompute& arguments, int warmup, int repetitions, const OutputOptions& output);

/// Measures on every rank, writes on rank 0. Whether all data was right.
bool bench_training(const BenchTraining& arguments, const std::string& backend, int warmup, int iterations,
                    const OutputOptions& output, Session& session);

}  // namespace farandole
