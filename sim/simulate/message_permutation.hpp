// A phase in which every rank sends to at most one and receives from at most one, as simulate/message_recurrence.hpp
// carries it: costs by the length of what is sent.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collective/rank_times.hpp"

namespace farandole { inline namespace simulate {

/// Of runs of chunks that differ by a byte, all with as many: none of the longer ones in it, only such, some. More
/// lengths there are only where longer ones begin within several runs.
constexpr std::size_t most_lengths = 3;

/// What a phase sends, by the chunk with which it begins: which of the lengths it has, and what is next.
struct Runs {
  std::vector<Bytes> lengths;
  std::vector<std::uint8_t> length;
  std::vector<std::int32_t> next;
};

/// What each rank of a permutation sends and receives; costs by the number of their length.
struct Permutation {
  template <class Value>
  using ByLength = std::array<Value, most_lengths>;
  struct Sender {
    ByLength<double> sending{};
    ByLength<int> waits_for{};  // itself where its messages are eager
    ByLength<double> busy{};    // its processor
    std::int32_t chunk = 0;     // of this repeat
  };
  struct Receiver {
    int from = -1;  // nobody
    ByLength<double> reducing{};
    ByLength<double> busy{};
  };
  std::vector<Sender> senders;
  std::vector<Receiver> receivers;
};

/// Rings in which chunks cost what they cost and ranks do not matter: seen from a chunk, which a rank sends on once it
/// has it, ranks go by, and what changes from chunk to chunk stays. A moment goes on with a chunk, through sending and
/// reducing, or waits at a rank for the next one. False where chunks do not travel around.
bool carry_chunks(RankTimes& moments, const Permutation& permutation, const Runs& runs, int repeats);

}}  // namespace farandole::simulate
