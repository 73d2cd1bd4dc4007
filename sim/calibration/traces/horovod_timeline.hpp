// Horovod's timeline (HOROVOD_TIMELINE) as a workload: which tensors, and when each is ready.
//
// Called by `farandole import horovod_timeline`. Every tensor of the timeline is a process; the allreduces count. A
// tensor is ready when its negotiation begins. The backward pass of a layer is the time between its tensor's being
// ready and that of the one before it, the median over the iterations; what passes between the end of one iteration's
// last allreduce and the next one's first tensor (the update, the forward pass and the first step back) counts as
// forward pass, of the first layer, since a timeline tells no more. Shapes are those that the timeline gives where an
// allreduce ends.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "calibration/traces/workload_file.hpp"

namespace farandole {

struct HorovodTrace {
  TracedWorkload workload;
  int iterations = 0;
  std::optional<Seconds> cycle;  // median time between marks of cycles, where they are written
  Seconds negotiation;           // median, from the first rank's being ready to the end
};

/// `file` is what the text is called in messages. InputError where it is no timeline, names no shapes, or holds less
/// than two whole iterations.
HorovodTrace read_horovod_timeline(std::string_view text, const std::string& file);

}  // namespace farandole
