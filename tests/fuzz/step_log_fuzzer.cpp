// libFuzzer target: a log of steps, a time a line, MLPerf's or a table of W&B, is times or refused.
#include <cmath>

#include "farandole/step_log.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = farandole::fuzz::text_of(data, size);
  farandole::fuzz::use_or_refuse([&] {
    const auto seconds = farandole::step_seconds(text, "fuzz.log");
    farandole::fuzz::require(!seconds.empty(), "a log has a step");
    for (const double step : seconds) farandole::fuzz::require(step > 0 && std::isfinite(step), "a step takes a time");
  });
  return 0;
}
