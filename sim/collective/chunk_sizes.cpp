#include "collective/chunk_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "config/error.hpp"

namespace farandole { inline namespace collective {
namespace {

/// Arrays of the given size that the chunks make up together, all cut alike.
Chunk arrays(const Schedule& schedule) {
  return schedule.operation == Operation::alltoall ? schedule.rows : schedule.copies;
}

}  // namespace

ChunkSizes::ChunkSizes(Bytes row, Chunk chunks)
    : columns_(chunks),
      base_(std::floor(row.si() / static_cast<double>(chunks))),
      longer_(static_cast<Chunk>(row.si() - base_ * static_cast<double>(chunks))) {}

ChunkSizes::ChunkSizes(Bytes size, const Schedule& schedule) : ChunkSizes(size, schedule.chunks / arrays(schedule)) {
  if (schedule.weights.empty()) return;
  const double total = size.si() * static_cast<double>(arrays(schedule));
  const double all = std::accumulate(schedule.weights.begin(), schedule.weights.end(), 0.0);
  double sum = 0;
  for (const double weight : schedule.weights) {
    sum += weight;
    ends_.push_back(std::floor(total * (sum / all)));
  }
  ends_.back() = total;
}

Bytes ChunkSizes::before(Chunk chunk) const {
  if (chunk == 0) return Bytes(0);
  if (weighted()) return Bytes(ends_[static_cast<std::size_t>(chunk - 1)]);
  const Chunk row = chunk / columns_;
  const Chunk column = chunk % columns_;
  const auto bytes_before = [this](Chunk c) {
    return base_ * static_cast<double>(c) + static_cast<double>(std::min(c, longer_));
  };
  return Bytes(static_cast<double>(row) * bytes_before(columns_) + bytes_before(column));
}

Bytes ChunkSizes::largest() const {
  if (!weighted()) return Bytes(base_ + (longer_ > 0 ? 1 : 0));
  double most = ends_.front();
  for (std::size_t i = 1; i < ends_.size(); ++i) most = std::max(most, ends_[i] - ends_[i - 1]);
  return Bytes(most);
}

Bytes ChunkSizes::largest_run(Chunk count) const {
  if (weighted()) return std::min(largest() * static_cast<double>(count), Bytes(ends_.back()));
  return Bytes(base_ * static_cast<double>(count) + static_cast<double>(std::min(count, longer_)));
}

Bytes ChunkSizes::of(const Schedule& schedule, const Phase& phase, const Transfer& placed) const {
  const Chunk width = schedule.chunks / schedule.rows;
  const auto run = [&](Chunk chunk) {
    const Chunk row_start = chunk / width * width;
    const Chunk end = chunk + placed.count;
    const Chunk row_end = row_start + width;
    if (end <= row_end) return before(end) - before(chunk);
    return before(row_end) - before(chunk) + before(row_start + end - row_end) - before(row_start);
  };
  if (phase.bundle.empty()) return run(placed.chunk);
  if (equal()) return Bytes(base_ * placed.count * static_cast<double>(phase.bundle.size()));
  Bytes sum;
  Bytes latest;  // the same in every row, of chunks without weights
  for (std::size_t i = 0; i < phase.bundle.size(); ++i) {
    const auto [row, column] = phase.bundle[i];
    if (i == 0 || weighted() || column != phase.bundle[i - 1].column) {
      latest = run(moved(schedule, placed.chunk, row, column));
    }
    sum += latest;
  }
  return sum;
}

std::vector<Bytes> ChunkSizes::messages(const Schedule& schedule, const Phase& phase, const Transfer& placed) const {
  std::vector<Bytes> result;
  for_each_chunk(schedule, phase, placed, [&](Chunk chunk) {
    if ((*this)[chunk] > Bytes(0)) result.push_back((*this)[chunk]);
  });
  return result;
}

int keys_in(Bytes shard, Bytes key) {
  constexpr double most = 1 << 20;
  const double keys = std::max(1.0, std::ceil(shard / key));
  if (keys <= most) return static_cast<int>(keys);
  throw InputError(fmt::format("expected a shard of at most {:.0f} keys, got {:.0f} bytes in keys of {:.0f}: {:.0f}",
                               most, shard.si(), key.si(), keys));
}

}}  // namespace farandole::collective
