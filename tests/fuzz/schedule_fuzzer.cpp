// libFuzzer target: a schedule in JSON is an algorithm that can be proved or disproved, or refused.
#include "collective/files/read_schedule.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/small_schedule.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    const Document document = Document::parse(text, "fuzz.json");
    const Schedule schedule = parse_schedule(document.root());
    fuzz::require(schedule.ranks >= 1, "an algorithm has ranks");
    if (fuzz::is_small(schedule)) require_proof(schedule, document.root().place());
  });
  return 0;
}
