// Tensor fusion: which negotiated tensors travel together in one allreduce.
//
// Horovod goes through the tensors in the order they were negotiated and puts them into one buffer as long as it holds
// them. The first tensor that does not fit closes the buffer. (Since 0.16.0 it looks further ahead past tensors of
// another type or device, as long as these would have fitted: FuseResponses, horovod/common/controller.cc. Gradients
// here are of one type on one device.) A tensor larger than the threshold travels alone.
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace training {

/// Groups of indices into `sizes`, in the order of their first members; every index stands in exactly one group and no
/// group of several exceeds `threshold`.
std::vector<std::vector<int>> fuse(const std::vector<Bytes>& sizes, Bytes threshold);

}}  // namespace farandole::training
