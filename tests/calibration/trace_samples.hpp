// Traces as Horovod and PyTorch write them, shortened, for the tests of their readers.
#pragma once

#include <string>

#include <fmt/format.h>

#include "workload/model.hpp"

namespace farandole::test {

/// The model that PyTorch's trace below is of.
inline Model conv_and_linear() {
  Model model;
  model.name = "small";
  model.variant = "test";
  for (const char* type : {"conv2d", "relu", "linear"}) {
    Layer layer;
    layer.name = type;
    layer.type = type;
    layer.input_elements = 1;
    layer.output_elements = 1;
    if (layer.type != "relu") layer.tensors.push_back({layer.name + ".weight", {8, 3}});
    model.layers.push_back(layer);
  }
  return model;
}

/// One tensor's allreduce as Horovod's timeline tells it; times in microseconds.
inline std::string horovod_tensor(int process, int ready, int agreed, int done, const std::string& shape) {
  return fmt::format(R"({{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": {1}, "pid": {0}}},
{{"ph": "X", "name": "0", "ts": {1}, "pid": {0}, "dur": 0}},
{{"ph": "E", "ts": {2}, "pid": {0}}},
{{"ph": "B", "name": "ALLREDUCE", "ts": {2}, "pid": {0}}},
{{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": {2}, "pid": {0}}},
{{"ph": "E", "ts": {3}, "pid": {0}}},
{{"ph": "E", "ts": {3}, "pid": {0}, "args": {{"dtype": "float32", "shape": "{4}"}}}},
)",
                     process, ready, agreed, done, shape);
}

/// Two tensors, ready 10 and 25 ms into each of three iterations of 100 ms; left open, as older versions do.
inline std::string horovod_timeline() {
  std::string text = R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros":1700000000000000}},
{"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "allreduce.fc.weight"}},
{"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
{"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "allreduce.conv.weight"}},
{"name": "process_sort_index", "ph": "M", "pid": 2, "args": {"sort_index": 2}},
)";
  for (int iteration = 0; iteration < 3; ++iteration) {
    const int begin = 100000 * iteration;
    text += fmt::format(R"({{"ph": "i", "name": "CYCLE_START", "ts": {}, "s": "g"}},
)",
                        begin + 5000 * iteration);
    text += horovod_tensor(1, begin + 10000, begin + 12000, begin + 30000, "[10, 512]");
    text += horovod_tensor(2, begin + 25000, begin + 27000, begin + 60000, "[64, 3, 7, 7]");
  }
  return text;
}

inline std::string profiler_operator(const std::string& name, int start, int duration, int id) {
  return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 7, "tid": 7, "ts": {}, "dur": {}, )"
                     R"("args": {{"External id": {}, "Ev Idx": 1}}}})",
                     name, start, duration, id);
}

/// A step of a model of a convolution and a linear layer, in microseconds from `begin`.
inline std::string profiler_step(int number, int begin) {
  return fmt::format(R"({{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 7, "tid": 7, )"
                     R"("ts": {}, "dur": 1000, "args": {{"External id": 1}}}},
)",
                     number, begin) +
         profiler_operator("aten::conv2d", begin + 10, 100, 2) + ",\n" +
         profiler_operator("aten::convolution", begin + 12, 90, 3) + ",\n" +
         profiler_operator("aten::relu", begin + 120, 50, 4) + ",\n" +
         profiler_operator("aten::linear", begin + 180, 50, 5) + ",\n" +
         profiler_operator("autograd::engine::evaluate_function: AddmmBackward0", begin + 300, 100, 6) + ",\n" +
         profiler_operator("autograd::engine::evaluate_function: ConvolutionBackward0", begin + 500, 300, 7) + ",\n" +
         profiler_operator("Optimizer.step#SGD.step", begin + 900, 40, 8);
}

inline std::string profiler_trace(const std::string& more = "") {
  return "{\"schemaVersion\": 1, \"traceEvents\": [\n" + profiler_step(2, 0) + ",\n" + profiler_step(3, 2000) + more +
         "\n]}\n";
}

}  // namespace farandole::test
