// Runs one rank's view of a schedule on any endpoint: memory, MPI, and whatever else carries messages.
//
// The rule of collective/schedule.hpp: a round sends what stood in the buffer when it began; the rank goes on when its
// own sends and receives are done. What comes in is kept aside until then, and copied or added in the order of the
// schedule; a plain copy that no send of the round overlaps is received in place.
#pragma once

#include "backend/endpoint.hpp"
#include "backend/rank_program.hpp"

namespace farandole {

class Interpreter {
 public:
  /// The endpoint must outlive it.
  Interpreter(RankProgram program, Endpoint& endpoint);

  /// `data` has the program's number of elements.
  void run(std::span<float> data);

 private:
  void run_round(const RankRound& round, std::span<float> data);

  RankProgram program_;
  Endpoint& endpoint_;
  std::vector<float> aside_;  // what a round sends in several ranges, then what it receives
};

}  // namespace farandole
