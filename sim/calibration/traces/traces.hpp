// Traces of real runs as workloads: Horovod's timeline and PyTorch's profiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/error.hpp"
#include "units/quantity.hpp"
#include "workload/model.hpp"

namespace farandole { inline namespace calibration {

// The events of a Chrome trace, which is what Horovod's timeline and PyTorch's profiler write.
//
// Used by the readers of this folder. A trace is an array of events or an object with "traceEvents"; Horovod's older
// versions leave the array open, which is read all the same. Times are microseconds in the file.

struct ChromeEvent {
  Place place;
  char phase = '?';  // B, E, X, i, M
  std::string name;  // empty: an event that ends another has none
  std::string category;
  std::string process;  // as written: a number or a text
  std::string thread;
  Seconds start;
  Seconds duration;       // of X
  std::string described;  // args.name of what names a process
  std::string shape;      // args.shape: "[64, 3, 7, 7]"
  std::optional<double> external_id;

  [[nodiscard]] Seconds end() const { return start + duration; }
};

/// In the order of the file. InputError where the text is no such trace, with the place.
std::vector<ChromeEvent> read_chrome_events(std::string_view text, const std::string& file);

// A traced workload as a model file: its tensors, and how long each layer computes.
//
// What the readers of traces find and `farandole import` writes. Layers are in the order of the forward pass; their
// times are those of the batch that was traced, and become a profile (workload/profile.hpp) of all devices, since a
// trace does not say what it ran on.

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

// Horovod's timeline (HOROVOD_TIMELINE) as a workload: which tensors, and when each is ready.
//
// Called by `farandole import horovod_timeline`. Every tensor of the timeline is a process; the allreduces count. A
// tensor is ready when its negotiation begins. The backward pass of a layer is the time between its tensor's being
// ready and that of the one before it, the median over the iterations; what passes between the end of one iteration's
// last allreduce and the next one's first tensor (the update, the forward pass and the first step back) counts as
// forward pass, of the first layer, since a timeline tells no more. Shapes are those that the timeline gives where an
// allreduce ends.

struct HorovodTrace {
  TracedWorkload workload;
  int iterations = 0;
  std::optional<Seconds> cycle;  // median time between marks of cycles, where they are written
  Seconds negotiation;           // median, from the first rank's being ready to the end
};

/// `file` is what the text is called in messages. InputError where it is no timeline, names no shapes, or holds less
/// than two whole iterations.
HorovodTrace read_horovod_timeline(std::string_view text, const std::string& file);

// A trace of PyTorch's profiler as the times of a model's layers.
//
// Called by `farandole import pytorch_profiler`. The trace (export_chrome_trace of torch.profiler or of
// torch.autograd.profiler) tells which operators ran and how long, not whose layers they are: that is what the model is
// for. Within a step, the k-th convolution of the forward pass is the model's k-th convolution, and the k-th from the
// end of the backward pass likewise; so for every kind of layer in the table of pytorch_profiler.cpp. Where the trace
// has kernels of a GPU, a layer takes what its kernels take, else what its operator took on the CPU. The rest of a
// pass, of kinds that are not in the table, is spread over its layers in proportion. Medians over the steps of the
// trace; without marks of steps ("ProfilerStep#") all of it is one.

struct ProfilerTrace {
  TracedWorkload workload;
  int steps = 0;
  bool on_device = false;  // times of kernels
};

/// `batch` is what the trace was taken with. InputError where the text is no such trace, or where its operators are not
/// the model's layers.
ProfilerTrace read_pytorch_profiler(std::string_view text, const std::string& file, const Model& model, int batch);

}}  // namespace farandole::calibration
