// Runs one rank's view of a schedule on any endpoint: memory, MPI, and whatever else carries messages.
//
// The rule of collective/schedule.hpp: a round sends what stood in the buffer when it began; the rank goes on when its
// own sends and receives are done. What comes in is kept aside until then, and copied or added in the order of the
// schedule; a plain copy that no send of the round overlaps is received in place.
#pragma once

#include "backend/endpoint.hpp"
#include "backend/rank_program.hpp"

namespace farandole { inline namespace backend {

class Interpreter {
 public:
  /// The endpoint must outlive it.
  Interpreter(RankProgram program, Endpoint& endpoint);

  /// `data` has the program's number of elements.
  void run(std::span<float> data);

  /// The same in pieces, for who has other things to do meanwhile: `data` stays where it is until `advance`, which goes
  /// as far as it can without waiting, says that all is done.
  void begin(std::span<float> data);
  bool advance();

 private:
  struct Kept {
    const PeerMessage* message;
    std::span<const float> packed;
  };

  [[nodiscard]] bool is_running() const { return round_ < program_.rounds.size(); }
  void start_round();
  void end_round();
  void receive(const RankRound& round, std::span<float>& free);
  void send(const RankRound& round, std::span<float>& free);

  RankProgram program_;
  Endpoint& endpoint_;
  Room aside_;  // what a round sends in several ranges, then what it receives
  std::span<float> data_;
  std::size_t round_ = 0;
  std::vector<Kept> kept_;  // what the round receives aside
};

}}  // namespace farandole::backend
