// A traced workload as a model file: its tensors, and how long each layer computes.
//
// What the readers of traces find and `farandole import` writes. Layers are in the order of the forward pass; their
// times are those of the batch that was traced, and become a profile (workload/profile.hpp) of all devices, since a
// trace does not say what it ran on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "units/quantity.hpp"
#include "workload/model.hpp"

namespace farandole {

struct TracedLayer : Layer {
  Seconds forward;
  Seconds backward;
};

struct TracedWorkload {
  std::string name;
  std::string source;
  int batch = 1;
  std::vector<TracedLayer> layers;
  Seconds update;  // of the weights
};

/// Lower case letters, digits and underscores, beginning with a letter.
std::string model_name(const std::string& text);

/// A file of models/ with one variant; `schema` is what its "$schema" says.
Document workload_file(const TracedWorkload& workload, const std::string& schema);

}  // namespace farandole
