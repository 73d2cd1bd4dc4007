// One rank's view of a schedule: what it sends and receives in each round, in elements of its buffer.
//
// Made once per rank and size, run by backend/interpreter.hpp as often as wanted. Both ends of a pair list the messages
// between them in the same order. Neighbouring chunks make one range, empty messages are left out on both sides.
#pragma once

#include <cstdint>
#include <vector>

#include "collective/chunk_sizes.hpp"

namespace farandole { inline namespace backend {

struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

/// What this rank and one other exchange at once.
struct PeerMessage {
  int peer = 0;
  std::vector<ElementRange> ranges;
  Action action = Action::copy;  // at the receiver
  [[nodiscard]] std::int64_t elements() const;
};

struct RankRound {
  std::vector<PeerMessage> sends;
  std::vector<PeerMessage> receives;
};

struct RankProgram {
  std::int64_t elements = 0;        // of the buffer: of all copies of the array that it holds
  std::int64_t array = 0;           // elements of one copy
  std::vector<RankRound> rounds{};  // those in which the rank has something to do
};

/// `size`: elements, as the operation counts bytes (collective/chunk_sizes.hpp).
RankProgram program_of(const Schedule& schedule, int rank, std::int64_t size);

}}  // namespace farandole::backend
