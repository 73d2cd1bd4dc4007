// A traced workload as a model file: its tensors, and how long each layer computes.
//
// What the readers of traces find and `farandole import` writes. Layers stand in the order of the forward pass; their
// times are those of the batch that was traced.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "units/quantity.hpp"
#include "workload/model.hpp"

namespace farandole {

struct TracedWorkload {
  std::string name;
  std::string source;
  int batch = 1;
  std::vector<Layer> layers;  // with times
  Seconds update;             // of the weights
};

/// Lower case letters, digits and underscores, beginning with a letter.
std::string model_name(const std::string& text);

/// A file of models/ with one variant.
Document workload_file(const TracedWorkload& workload);

}  // namespace farandole
