// What every rank holds of every chunk, as counts: how often each rank's contribution is summed into it.
//
// Used by the symbolic proof and by what shows a schedule to people.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include "collective/apply.hpp"
#include "collective/schedule.hpp"

namespace farandole {

/// Element r: how often rank r's contribution is in. All zero: nothing is held.
using Counts = Eigen::Array<std::int32_t, Eigen::Dynamic, 1>;

class SymbolicState {
 public:
  /// Every rank holds what it contributes.
  explicit SymbolicState(const Schedule& schedule);

  [[nodiscard]] const Counts& at(int rank, Chunk chunk) const { return cells_[index(rank, chunk)]; }
  void write(int rank, Chunk chunk, const Counts& value, Action action);
  void apply(const Schedule& schedule, const Phase& phase, int repeat);

 private:
  [[nodiscard]] std::size_t index(int rank, Chunk chunk) const {
    return static_cast<std::size_t>(rank * chunks_ + chunk);
  }

  Chunk chunks_;
  std::vector<Counts> cells_;
};

}  // namespace farandole
