// libFuzzer target: any text is a list of measurements that could be true, or an InputError of one line.
#include <cstddef>
#include <cstdint>
#include <string>

#include "calibration/read_measurements.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  const std::string text(data, data + size);
  try {
    const auto rows = read_measurements(MeasuredText{"fuzz.txt", text}, {"allreduce", "ring", 2, 1});
    if (rows.empty()) __builtin_trap();
    for (const MeasuredTime& row : rows) {
      if (!(row.time > Seconds(0)) || row.ranks < 1 || row.bytes < Bytes(0)) __builtin_trap();
    }
  } catch (const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) __builtin_trap();
  }
  return 0;
}
