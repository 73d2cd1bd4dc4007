#include "collective/schedule.hpp"

#include <algorithm>

namespace farandole { inline namespace collective {
namespace {

std::int64_t wrapped(std::int64_t value, std::int64_t modulus) {
  const std::int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

}  // namespace

bool takes_part(const Phase& phase, const Transfer& transfer, int repeat) {
  return phase.window == 0 || (repeat >= transfer.start && repeat - transfer.start < phase.window);
}

Chunk moved(const Schedule& schedule, Chunk chunk, std::int64_t rows, std::int64_t columns) {
  const Chunk width = schedule.chunks / schedule.rows;
  return wrapped(chunk / width + rows, schedule.rows) * width + wrapped(chunk % width + columns, width);
}

Transfer in_repeat(const Schedule& schedule, const Phase& phase, const Transfer& transfer, int repeat, int lane) {
  const std::int64_t step = static_cast<std::int64_t>(repeat - transfer.start) * phase.fan + lane;
  Transfer placed = transfer;
  placed.chunk = moved(schedule, transfer.chunk, step * phase.row_step, step * phase.chunk_step);
  placed.to = static_cast<int>(wrapped(transfer.to + step * phase.peer_step, schedule.ranks));
  return placed;
}

Chunk chunk_in_repeat(const Schedule& schedule, const Phase& phase, const Transfer& transfer, int repeat) {
  return in_repeat(schedule, phase, transfer, repeat).chunk;
}

std::size_t transfers_per_round(const Phase& phase) {
  return phase.transfers.size() * static_cast<std::size_t>(phase.fan);
}

int active_repeats(const Phase& phase) {
  return phase.window == 0 ? phase.repeats : std::min(phase.window, phase.repeats);
}

int rounds(const Schedule& schedule) {
  int sum = 0;
  for (const Phase& phase : schedule.phases) sum += phase.repeats;
  return sum;
}

}}  // namespace farandole::collective
