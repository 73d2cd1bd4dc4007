// A collective algorithm as data: rounds of transfers of chunks, each copied or reduced into the receiver's chunk.
//
// A Schedule knows no bytes, no network and no time. It is proved (collective/proof.hpp), timed (simulate/) and run
// (backend/) by separate code that all follow one rule:
//
//   The transfers of a round read the state at the end of the round before; a rank enters round k+1 when its own
//   transfers of round k, sent and received, are done; there is no global barrier.
//
// The value is compact: a phase is one pattern of at most a few transfers per rank, repeated; with every repeat each
// transfer's chunk moves on by `chunk_step` (modulo the number of chunks). A ring of n ranks is two phases of n
// transfers, each repeated n-1 times: O(n), not O(n^2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole {

enum class Operation : std::uint8_t { allreduce };

enum class Action : std::uint8_t {
  copy,   // the receiver's chunk becomes the sender's
  reduce  // the sender's chunk is added to the receiver's
};

struct Transfer {
  int from = 0;
  int to = 0;
  int chunk = 0;  // in the first repeat
  Action action = Action::copy;
};

struct Phase {
  std::string name;
  std::vector<Transfer> transfers;
  int repeats = 1;
  int chunk_step = 0;
};

struct Schedule {
  Operation operation = Operation::allreduce;
  std::string algorithm;
  int ranks = 1;
  int chunks = 1;
  std::vector<Phase> phases;
};

/// The chunk `transfer` carries in the given repeat of its phase.
int chunk_in_repeat(const Schedule& schedule, const Phase& phase, const Transfer& transfer, int repeat);

/// Rounds over all phases.
int rounds(const Schedule& schedule);

/// A buffer of whole bytes cut into nearly equal chunks: the first `total mod chunks` of them are one byte longer.
class ChunkSizes {
 public:
  ChunkSizes(Bytes total, int chunks);
  [[nodiscard]] Bytes operator[](int chunk) const;
  [[nodiscard]] Bytes largest() const;
  [[nodiscard]] bool equal() const { return longer_ == 0; }

 private:
  double base_;
  int longer_;
};

}  // namespace farandole
