// libFuzzer target: a file of topologies/devices/ is a device with rates and memory, or refused.
#include "fuzz/fuzz.hpp"
#include "workload/device.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const Document document = Document::parse(text, "fuzz.json");
    const Device device = read_device(document.root(), "fuzz.json");
    for (const auto& [precision, rate] : device.peak) fuzz::require(rate > FlopPerSecond(0), "a device computes");
    fuzz::require(device.memory > Bytes(0) && device.board.devices >= 1, "a device has memory");
    for (const Measurement& row : device.measurements) {
      fuzz::require(row.samples_per_second > 0 && row.batch >= 0, "a measured throughput is above zero");
    }
  });
  return 0;
}
