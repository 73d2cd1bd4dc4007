// Moves of all ranks that a schedule on a platform does not notice, known before any way is worked out.
//
// Two families: shifts, r to r + m d modulo all, and exchanges, r to r XOR m d. Either leaves nobody in place (but for
// m = 0), so ranks 0 .. d-1 stand for all: rank r for all r' that are r modulo d. A ring, an alltoall or a direct
// exchange is kept by shifts, recursive doubling and halving by exchanges.
//
// That the schedule is kept is read off every phase in one pass: what a rank sends, moved back to where the one that
// stands for it is, must be what that sends, in the same order. The platform is kept by shifts where its builder says
// so (Network::alike_after), and by exchanges of nodes where no link belongs to the network, so that any two nodes may
// be exchanged; links that are moved into one another must have one capacity and latency. Anything else is refused:
// other placements than rank by rank, nodes that differ, congestion curves, limits of single connections, failed links.
#pragma once

#include <cstdint>
#include <optional>

#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

class Moves {
 public:
  enum class Kind : std::uint8_t { shift, exchange };

  /// `step` divides `ranks`; both are powers of two for exchanges.
  Moves(Kind kind, int step, int ranks) : kind_(kind), step_(step), ranks_(ranks) {}

  [[nodiscard]] Kind kind() const { return kind_; }
  /// How many ranks stand for all.
  [[nodiscard]] int step() const { return step_; }
  /// How many moves there are, the one that moves nobody included.
  [[nodiscard]] int count() const { return ranks_ / step_; }
  [[nodiscard]] int class_of(int rank) const { return rank % step_; }
  [[nodiscard]] int moved(int rank, int move) const {
    return kind_ == Kind::shift ? static_cast<int>((rank + std::int64_t{move} * step_) % ranks_)
                                : (rank ^ (move * step_));
  }
  /// The move that takes the rank to the one that stands for it.
  [[nodiscard]] int back(int rank) const {
    return kind_ == Kind::shift ? (count() - rank / step_) % count() : rank / step_;
  }

 private:
  Kind kind_;
  int step_;
  int ranks_;
};

/// Shifts, else exchanges, for as few representatives as are known to do; nothing where there are none but all ranks,
/// where no way was kept (RoutedSchedule::where) and where chunks have weights or take part in some repeats only.
/// O(transfers of the pattern + links of nodes).
std::optional<Moves> moves_of(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
