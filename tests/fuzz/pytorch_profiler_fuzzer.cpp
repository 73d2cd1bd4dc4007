// libFuzzer target: a trace of PyTorch's profiler, of a convolution and a linear layer, is a workload that can be
// written and read, or refused.
#include "fuzz/traced.hpp"

namespace {

using namespace farandole;

Model conv_and_linear() {
  Model model;
  model.name = "small";
  model.variant = "fuzz";
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Model model = conv_and_linear();
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const ProfilerTrace trace = read_pytorch_profiler(text, "fuzz.json", model, 1);
    fuzz::require(trace.steps >= 1, "a trace has a step");
    fuzz::write_and_read(trace.workload);
  });
  return 0;
}
