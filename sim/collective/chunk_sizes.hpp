// How many bytes each chunk of a schedule has.
//
// Called by whoever times or carries out a schedule of a given size. The size is what nccl-tests calls it: the whole
// array (of one rank, for an allreduce; of all ranks together, for allgather, reduce-scatter, gather and scatter), but
// one rank's send buffer for an alltoall. Chunks are whole bytes. Equal ones: the first `total mod chunks` are a byte
// longer (of an alltoall: in every row; of copies: in every copy). Weighted ones: chunk c ends at floor(total * weights
// up to c / all weights).
#pragma once

#include <vector>

#include "collective/schedule.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace collective {

class ChunkSizes {
 public:
  /// Equal chunks, `chunks` of them to a row of `row` bytes.
  ChunkSizes(Bytes row, Chunk chunks);
  ChunkSizes(Bytes size, const Schedule& schedule);

  [[nodiscard]] Bytes operator[](Chunk chunk) const { return before(chunk + 1) - before(chunk); }
  /// Bytes of all chunks before this one; of all chunks, where it is their number.
  [[nodiscard]] Bytes before(Chunk chunk) const;
  [[nodiscard]] Bytes largest() const;
  /// The size whose chunks would all be as long as the longest of these.
  [[nodiscard]] Bytes size_of_longest() const { return largest() * static_cast<double>(columns_); }
  /// The most that `count` neighbouring chunks can have.
  [[nodiscard]] Bytes largest_run(Chunk count) const;
  [[nodiscard]] bool equal() const { return ends_.empty() && longer_ == 0; }
  [[nodiscard]] bool weighted() const { return !ends_.empty(); }
  /// Some are a byte longer than the others, which may be empty.
  [[nodiscard]] bool differ_by_a_byte() const { return ends_.empty() && longer_ > 0; }

  /// What the transfer, placed by in_repeat, carries.
  [[nodiscard]] Bytes of(const Schedule& schedule, const Phase& phase, const Transfer& placed) const;
  /// The same as messages of a chunk each, without the empty ones.
  [[nodiscard]] std::vector<Bytes> messages(const Schedule& schedule, const Phase& phase, const Transfer& placed) const;

 private:
  Chunk columns_ = 1;
  double base_ = 0;   // bytes of an equal chunk, without the longer ones' byte
  Chunk longer_ = 0;  // of each row
  std::vector<double> ends_;
};

/// How many keys of at most `key` bytes a parameter server's shard is cut into; InputError where they are more than a
/// schedule can hold.
int keys_in(Bytes shard, Bytes key);

/// Where the chunk begins in a buffer, an element for each byte.
inline std::int64_t begin_of(const ChunkSizes& sizes, Chunk chunk) {
  return static_cast<std::int64_t>(sizes.before(chunk).si());
}

}}  // namespace farandole::collective
