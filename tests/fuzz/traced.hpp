// What targets of traces share: a traced workload is a model file that can be read.
#pragma once

#include "calibration/traces/traces.hpp"
#include "fuzz/fuzz.hpp"

namespace farandole::fuzz {

inline void require_time(Seconds time) {
  require(time >= Seconds(0) && time < Seconds::infinity(), "a layer takes a time");
}

/// As `farandole import` does; the name that it asks for is checked before.
inline void write_and_read(TracedWorkload workload) {
  workload.name = "fuzz";
  for (const TracedLayer& layer : workload.layers) {
    require_time(layer.forward);
    require_time(layer.backward);
  }
  require_time(workload.update);
  const Document file = workload_file(workload, "model.schema.json");
  const ModelSummary model = read_model(file.root(), "fuzz.json");
  require(model.variants.at(0).layers.size() == workload.layers.size(), "every layer of a trace is in its file");
}

}  // namespace farandole::fuzz
