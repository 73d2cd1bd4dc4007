// libFuzzer target: Horovod's timeline is a workload that can be written and read, or refused.
#include "fuzz/traced.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const HorovodTrace trace = read_horovod_timeline(text, "fuzz.json");
    fuzz::require(trace.iterations >= 2, "a timeline has iterations");
    fuzz::require_time(trace.negotiation);
    fuzz::require_time(trace.cycle.value_or(Seconds(0)));
    fuzz::write_and_read(trace.workload);
  });
  return 0;
}
