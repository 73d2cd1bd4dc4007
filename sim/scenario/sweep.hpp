// "sweep": one scenario file, many configurations.
//
//   "sweep": { "/workload/model": ["vgg16", "resnet101"], "/platform/ranks": [1, 16, 512] }
//
// gives the product of all axes, the last axis changing fastest. Values replace what the file says before anything is
// checked.
#pragma once

#include <vector>

#include "config/document.hpp"

namespace farandole {

/// One document per configuration, without "sweep"; the document itself where there is none. More than 100,000
/// configurations are refused.
std::vector<Document> expand_sweep(const Document& document);

}  // namespace farandole
