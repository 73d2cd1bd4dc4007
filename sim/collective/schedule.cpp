#include "collective/schedule.hpp"

#include <algorithm>
#include <numeric>

namespace farandole { inline namespace collective {
namespace {

std::int64_t wrapped(std::int64_t value, std::int64_t modulus) {
  if (value >= 0 && value < modulus) return value;
  const std::int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

}  // namespace

bool takes_part(const Phase& phase, const Transfer& transfer, int repeat) {
  return phase.window == 0 || (repeat >= transfer.start && repeat - transfer.start < phase.window);
}

Chunk moved(const Schedule& schedule, Chunk chunk, std::int64_t rows, std::int64_t columns) {
  if (rows == 0 && columns == 0 && chunk >= 0 && chunk < schedule.chunks) return chunk;
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

std::size_t transfers_per_round(const Phase& phase) {
  return phase.transfers.size() * static_cast<std::size_t>(phase.fan);
}

std::vector<std::size_t> every_transfer(const Phase& phase) {
  std::vector<std::size_t> indices(transfers_per_round(phase));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return indices;
}

Participants::Participants(const Phase& phase) : phase_(phase) {
  if (phase.window == 0) {
    indices_ = every_transfer(phase);
    return;
  }
  by_start_.resize(phase.transfers.size());
  std::iota(by_start_.begin(), by_start_.end(), std::size_t{0});
  std::ranges::stable_sort(by_start_, {}, [&](std::size_t position) { return phase.transfers[position].start; });
}

std::span<const std::size_t> Participants::in(int repeat) {
  if (phase_.window == 0) return indices_;
  const auto start = [&](std::size_t position) { return phase_.transfers[position].start; };
  const auto first = std::ranges::upper_bound(by_start_, repeat - phase_.window, {}, start);
  const auto last = std::ranges::upper_bound(first, by_start_.end(), repeat, {}, start);
  const auto fan = static_cast<std::size_t>(phase_.fan);
  indices_.clear();
  for (auto position = first; position != last; ++position) {
    for (std::size_t lane = 0; lane < fan; ++lane) indices_.push_back(*position * fan + lane);
  }
  std::ranges::sort(indices_);
  return indices_;
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
