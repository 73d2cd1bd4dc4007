// A trace of PyTorch's profiler as the times of a model's layers.
//
// Called by `farandole import pytorch_profiler`. The trace (export_chrome_trace of torch.profiler or of
// torch.autograd.profiler) tells which operators ran and how long, not whose layers they are: that is what the model is
// for. Within a step, the k-th convolution of the forward pass is the model's k-th convolution, and the k-th from the
// end of the backward pass likewise; so for every kind of layer in the table of pytorch_profiler.cpp. Where the trace
// has kernels of a GPU, a layer takes what its kernels take, else what its operator took on the CPU. The rest of a
// pass, of kinds that are not in the table, is spread over its layers in proportion. Medians over the steps of the
// trace; without marks of steps ("ProfilerStep#") all of it is one.
#pragma once

#include <string>
#include <string_view>

#include "calibration/traces/workload_file.hpp"

namespace farandole {

struct ProfilerTrace {
  TracedWorkload workload;
  int steps = 0;
  bool on_device = false;  // times of kernels
};

/// `batch` is what the trace was taken with. InputError where the text is no such trace, or where its operators are not
/// the model's layers.
ProfilerTrace read_pytorch_profiler(std::string_view text, const std::string& file, const Model& model, int batch);

}  // namespace farandole
