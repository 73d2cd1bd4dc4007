// A measured or simulated trace as work of a device: what was under way when, in which class, and where steps begin.
//
// Called by compare_command.cpp. Read are PyTorch's profiler (Kineto), Chakra's traces of host and device as JSON
// (chakra_trace_link), Horovod's timeline, our own (`farandole run --timeline`) and the CSV of
// `nsys stats --report cuda_gpu_trace`. Of a profiler's trace only what runs on a device counts. A trace that holds
// several devices gives one DeviceTrace for each. Times are seconds from whatever zero the trace has; spans are by
// their begin.
#pragma once

#include <string>
#include <vector>

#include "kernel_class.hpp"
#include "timeline/timeline.hpp"

namespace farandole {

struct DeviceWork {
  double begin = 0;
  double end = 0;
  NamedWork work;
  bool is_copy_engine = false;  // beside which collectives are exposed all the same
  std::string name;
  std::string lane;  // a stream
};

struct StepWindow {
  double begin = 0;
  double end = 0;
};

/// How far a trace tells what a device does.
enum class TraceDetail : char { kernels, computation, communication };

struct DeviceTrace {
  std::string name;  // of the file, and of the device where it has several
  std::string kind;  // "PyTorch profiler"
  TraceDetail detail = TraceDetail::kernels;
  std::vector<DeviceWork> work;
  std::vector<StepWindow> steps;  // empty: it marks none
  std::string steps_by;           // "ProfilerStep#"
  bool is_ours = false;

  [[nodiscard]] StepWindow all() const;
};

/// InputError where it is no trace, or has nothing of a device.
std::vector<DeviceTrace> read_trace(const std::string& file);

/// The same of a timeline in memory, whose steps begin as those of one that was written.
DeviceTrace trace_of(const Timeline& timeline);

}  // namespace farandole
