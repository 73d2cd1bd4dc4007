// "sweep": one scenario file, many configurations.
//
//   "sweep": {
//     "/workload/model": ["vgg16", "resnet101"],
//     "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB", "factor": 2 },
//     "zip": { "/platform/ranks": [1, 4, 16], "/workload/batch_per_rank": [64, 64, 32] },
//     "variants": { "ring": { "/collectives/allreduce": "ring" }, "tree": { "/collectives/allreduce": "double_tree" } }
//   }
//
// gives the product of all axes, the last axis changing fastest. An axis is one pointer with its values, pointers that
// change together ("zip", an object or an array of such objects), or named sets of values ("variants"). Values replace
// what the file says before anything is checked; what --set says they may not replace (sweep_refusal.hpp).
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "timeline/result.hpp"
#include "units/count.hpp"

namespace farandole {

/// One configuration: a document without "sweep", and which one it is, as a user would say it.
struct Configuration {
  Document document;
  std::string name;  // `/workload/model "vgg16", /platform/ranks 4`; empty where nothing is swept
  std::vector<SweptValue> swept;
  std::vector<std::string> pointers;  // where its axes put values, in their order

  [[nodiscard]] Value root() const { return document.root(); }
};

/// How many configurations there are, before there is anything for each; 1 where nothing is swept.
Count count_configurations(const Document& document);

/// All configurations in order; the document itself where it sweeps nothing. More than 100,000 are refused.
std::vector<Configuration> expand_sweep(const Document& document);

}  // namespace farandole
