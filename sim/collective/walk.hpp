// A schedule walked through round by round, for people: who sends what to whom, and what everybody holds then.
//
// Called by whoever shows an algorithm. Costs what the symbolic proof costs, and keeps every round: for few ranks.
#pragma once

#include <string>
#include <vector>

#include "collective/proof.hpp"
#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

struct Send {
  int from = 0;
  int to = 0;
  Action action = Action::copy;
  std::vector<Chunk> chunks;
};

struct WalkedRound {
  std::string phase;
  std::vector<Send> sends;
  SymbolicState held;  // after the round
};

struct Walk {
  Schedule schedule;
  SymbolicState start;
  std::vector<WalkedRound> rounds;
};

Walk walk(const Schedule& schedule);

/// How many cells (a chunk of a rank after a round) a walk would hold.
double cells_of_walk(const Schedule& schedule);

/// Whose contributions: "" for none, "0+2" for some, "all" for everybody's where there are several; one that is in more
/// than once, as only a barrier's may be, counts as one.
std::string held_text(const Counts& counts);

/// "0", "0-3", "0-3,7".
std::string chunks_text(const std::vector<Chunk>& chunks);

}}  // namespace farandole::collective
