#include "collective/proof.hpp"
#include "collective/specification.hpp"

namespace farandole { inline namespace collective {

SymbolicState::SymbolicState(const Schedule& schedule) : chunks_(schedule.chunks) {
  cells_.reserve(static_cast<std::size_t>(schedule.ranks * chunks_));
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < chunks_; ++chunk) {
      Counts& own = cells_.emplace_back(Counts::Zero(schedule.ranks));
      if (contributes(schedule, rank, chunk)) own[rank] = 1;
    }
  }
}

void SymbolicState::write(int rank, Chunk chunk, const Counts& value, Action action) {
  Counts& cell = cells_[index(rank, chunk)];
  if (action == Action::reduce) {
    cell += value;
  } else {
    cell = value;
  }
}

void SymbolicState::apply(const Schedule& schedule, const Phase& phase, int repeat) {
  apply_round(
      schedule, phase, repeat, [this](int rank, Chunk chunk) { return at(rank, chunk); },
      [this](int rank, Chunk chunk, const Counts& value, Action action) { write(rank, chunk, value, action); });
}

}}  // namespace farandole::collective
