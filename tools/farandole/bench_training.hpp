// `farandole bench --training SCENARIO.json`: a scenario's iterations, run for real.
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

/// Measures on every rank, writes on rank 0. Whether all data was right.
bool bench_training(const BenchTraining& arguments, const std::string& backend, int warmup, int iterations,
                    const OutputOptions& output, Session& session);

}  // namespace farandole
