// libFuzzer target: a table of training runs (CSV) is scenarios with the steps that they took, or refused.
#include "calibration/posterior.hpp"
#include "config/document.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  static const Document scenario = Document::parse(
      R"({"workload": {"model": "resnet50", "batch_per_rank": 64}, "platform": {"topology": "dgx1", "ranks": 8}, "strategy": {"kind": "horovod"}})",
      "scenario.json");
  const std::string text = fuzz::text_of(data, size);
  if (!is_run_table(text)) return 0;
  fuzz::use_or_refuse([&] {
    for (const TrainingRow& row : table_runs("fuzz.csv", text, scenario, 4, "fuzz")) {
      fuzz::require(row.step > Seconds(0) && row.step < Seconds::infinity(), "a step takes a time");
      fuzz::require(row.place.line >= 1, "a row says where it stands");
    }
  });
  return 0;
}
