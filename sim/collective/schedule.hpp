// A collective algorithm as data: rounds of transfers of chunks, each copied or reduced into the receiver's chunk.
//
// A Schedule knows no bytes, no network and no time. It is proved (collective/proof.hpp), timed (simulate/) and run
// (backend/) by separate code that all follow one rule:
//
//   The transfers of a round read the state at the end of the round before; a rank enters round k+1 when its own
//   transfers of round k, sent and received, are done; there is no global barrier.
//
// The value is compact: a phase is one pattern of at most a few transfers per rank, repeated; from repeat to repeat
// the pattern moves on by fixed steps, in chunks, in rows of chunks and in receivers, each modulo its range. A ring of
// n ranks is two phases of n transfers, each repeated n-1 times: O(n), not O(n^2); so is an alltoall (`peer_step`), a
// pipeline (`window`), and what sends to everybody at once (`fan`). Nobody but `in_repeat` and `for_each_chunk` works
// out what a transfer carries.
//
// Chunks lie in a grid of `rows` equal rows; chunk c is column c mod columns of row c / columns. Most algorithms have
// one row. What the chunks mean to an operation is said in collective/specification.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collective/operation.hpp"

namespace farandole { inline namespace collective {

enum class Action : std::uint8_t {
  copy,    // the receiver's chunk becomes the sender's
  reduce,  // the sender's chunk is added to the receiver's
  relay    // the receiver's chunk becomes the sender's, to be passed on, and is added to its first copy (`copies`)
};

/// A chunk's number, or how many there are: of an alltoall, ranks squared.
using Chunk = std::int64_t;

struct Transfer {
  int from = 0;
  int to = 0;
  Chunk chunk = 0;  // in the first repeat it takes part in
  Action action = Action::copy;
  int count = 1;  // neighbouring chunks of the row, from `chunk` on; past the end of the row they go on at its start
  int start = 0;  // the first repeat it takes part in; other than 0 only in a phase with a window
};

/// A step in the grid of chunks.
struct Offset {
  int row = 0;
  int column = 0;
};

struct Phase {
  std::string name;
  std::vector<Transfer> transfers;
  int repeats = 1;
  int chunk_step = 0;  // columns per step; a step is a repeat, or with a fan a lane of a repeat
  int row_step = 0;    // rows per step
  int peer_step = 0;   // receivers per step
  int fan = 1;         // lanes: every transfer is sent this many times in one repeat, each time a step further
  int window = 0;      // in how many repeats a transfer takes part, from its start on; 0: in all
  std::vector<Offset> bundle{};  // every transfer carries its chunks moved by each of these; empty: just its chunks
  bool one_by_one = false;       // a transfer's chunks go one after the other, each as a message of its own
};

struct Schedule {
  Operation operation = Operation::allreduce;
  std::string algorithm;
  int ranks = 1;
  Chunk chunks = 1;
  std::vector<Phase> phases;
  int rows = 1;
  int root = 0;                   // of operations that have one
  std::vector<double> weights{};  // relative sizes of the chunks; empty: all alike
  int copies = 1;                 // of the array, in every rank's chunks; those after the first are to pass on
  int servers = 0;                // of a parameter server: ranks 0 .. servers-1 add up what is pushed
  int first_worker = 0;           // of a parameter server: the ranks before it only serve
};

/// Whether the transfer takes part in that repeat of its phase.
bool takes_part(const Phase& phase, const Transfer& transfer, int repeat);

/// The transfer with the receiver and the first chunk it has in a lane of a repeat of its phase.
Transfer in_repeat(const Schedule& schedule, const Phase& phase, const Transfer& transfer, int repeat, int lane = 0);

/// `chunk` moved through the grid, modulo its rows and its columns.
Chunk moved(const Schedule& schedule, Chunk chunk, std::int64_t rows, std::int64_t columns);

/// The chunk of the first copy of the array that this one is a copy of.
inline Chunk first_copy(const Schedule& schedule, Chunk chunk) {
  return chunk % (schedule.chunks / schedule.copies);
}

/// Calls `visit(chunk)` for every chunk of a transfer that in_repeat has placed.
template <class Visit>
void for_each_chunk(const Schedule& schedule, const Phase& phase, const Transfer& placed, Visit visit) {
  static const std::vector<Offset> alone(1);
  for (const Offset& offset : phase.bundle.empty() ? alone : phase.bundle) {
    for (int i = 0; i < placed.count; ++i) visit(moved(schedule, placed.chunk, offset.row, offset.column + i));
  }
}

/// Calls `visit(transfer, index)` for all that is sent in a round, placed; index = position * fan + lane.
template <class Visit>
void for_each_transfer(const Schedule& schedule, const Phase& phase, int repeat, Visit visit) {
  std::size_t index = 0;
  for (const Transfer& transfer : phase.transfers) {
    const bool sends = takes_part(phase, transfer, repeat);
    for (int lane = 0; lane < phase.fan; ++lane, ++index) {
      if (sends) visit(in_repeat(schedule, phase, transfer, repeat, lane), index);
    }
  }
}

/// Which transfers take part in a repeat of a phase, without going through all of them where few do: a chain over n
/// ranks has n repeats, with as many transfers under way in each as its data has chunks.
class Participants {
 public:
  /// `phase` must outlive it.
  explicit Participants(const Phase& phase);
  /// Their indices, as for_each_transfer counts, in ascending order; valid until the next call.
  [[nodiscard]] std::span<const std::size_t> in(int repeat);

 private:
  const Phase& phase_;
  std::vector<std::size_t> by_start_;  // positions of the transfers
  std::vector<std::size_t> indices_;
};

/// Likewise for these indices alone; `visit(transfer, place)` has the place among them.
template <class Visit>
void for_each_transfer(const Schedule& schedule, const Phase& phase, int repeat, std::span<const std::size_t> indices,
                       Visit visit) {
  const auto fan = static_cast<std::size_t>(phase.fan);
  for (std::size_t place = 0; place < indices.size(); ++place) {
    const Transfer& transfer = phase.transfers[indices[place] / fan];
    if (!takes_part(phase, transfer, repeat)) continue;
    visit(in_repeat(schedule, phase, transfer, repeat, static_cast<int>(indices[place] % fan)), place);
  }
}

/// Every index that for_each_transfer counts.
std::vector<std::size_t> every_transfer(const Phase& phase);

/// How many indices for_each_transfer counts through.
std::size_t transfers_per_round(const Phase& phase);

/// In how many repeats each transfer of the phase takes part.
int active_repeats(const Phase& phase);

/// Rounds over all phases.
int rounds(const Schedule& schedule);

}}  // namespace farandole::collective
