// libFuzzer target: MSCCL's XML is an algorithm that can be proved or disproved, or refused.
#include "collective/files/read_schedule.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/small_schedule.hpp"

namespace {

using namespace farandole;

void read_algorithm(const std::string& text) {
  const Schedule schedule = parse_msccl(text, "fuzz.xml");
  fuzz::require(schedule.ranks >= 1 && schedule.chunks >= 1, "an algorithm has ranks and chunks");
  for (const Phase& phase : schedule.phases) {
    fuzz::require(phase.repeats == 1 && !phase.transfers.empty(), "a phase is one round");
    for (const Transfer& transfer : phase.transfers) fuzz::require(transfer.count >= 1, "a transfer carries a chunk");
  }
  if (fuzz::is_small(schedule)) require_proof(schedule, {"fuzz.xml", 1, ""});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] { read_algorithm(text); });
  return 0;
}
