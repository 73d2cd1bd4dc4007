// libFuzzer target: what the OSU micro-benchmarks or the Intel MPI benchmarks print is a list of measurements that
// could be true, or refused.
#include "fuzz/measured.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  farandole::fuzz::read_table(farandole::fuzz::text_of(data, size));
  return 0;
}
