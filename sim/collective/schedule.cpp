#include "collective/schedule.hpp"

#include <cmath>

namespace farandole {

int chunk_in_repeat(const Schedule& schedule, const Phase& phase, const Transfer& transfer, int repeat) {
  const std::int64_t moved = transfer.chunk + static_cast<std::int64_t>(repeat) * phase.chunk_step;
  const std::int64_t chunk = moved % schedule.chunks;
  return static_cast<int>(chunk < 0 ? chunk + schedule.chunks : chunk);
}

int rounds(const Schedule& schedule) {
  int sum = 0;
  for (const Phase& phase : schedule.phases) sum += phase.repeats;
  return sum;
}

ChunkSizes::ChunkSizes(Bytes total, int chunks)
    : base_(std::floor(total.si() / chunks)), longer_(static_cast<int>(total.si() - base_ * chunks)) {}

Bytes ChunkSizes::operator[](int chunk) const {
  return Bytes(base_ + (chunk < longer_ ? 1.0 : 0.0));
}

Bytes ChunkSizes::largest() const {
  return (*this)[0];
}

}  // namespace farandole
