// libFuzzer target: a trace of PyTorch's profiler, of a convolution and a linear layer, is a workload that can be
// written and read, or refused.
#include "calibration/trace_samples.hpp"
#include "fuzz/traced.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  static const Model model = test::conv_and_linear();
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const ProfilerTrace trace = read_pytorch_profiler(text, "fuzz.json", model, 1);
    fuzz::require(trace.steps >= 1, "a trace has a step");
    fuzz::write_and_read(trace.workload);
  });
  return 0;
}
