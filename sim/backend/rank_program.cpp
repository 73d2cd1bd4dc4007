#include "backend/rank_program.hpp"

#include <utility>

namespace farandole { inline namespace backend {
namespace {

void add_range(std::vector<ElementRange>& ranges, const ElementRange& range) {
  if (!ranges.empty() && ranges.back().begin + ranges.back().count == range.begin) {
    ranges.back().count += range.count;
  } else {
    ranges.push_back(range);
  }
}

/// One message, or one for each chunk of a phase that sends them one by one.
void add_messages(std::vector<PeerMessage>& messages, const Schedule& schedule, const Phase& phase,
                  const Transfer& placed, const ChunkSizes& sizes, int peer) {
  PeerMessage message{peer, {}, placed.action};
  const auto close = [&] {
    if (!message.ranges.empty()) messages.push_back(std::exchange(message, {peer, {}, placed.action}));
  };
  for_each_chunk(schedule, phase, placed, [&](Chunk chunk) {
    const std::int64_t begin = begin_of(sizes, chunk);
    const std::int64_t count = begin_of(sizes, chunk + 1) - begin;
    if (count > 0) add_range(message.ranges, {begin, count});
    if (phase.one_by_one) close();
  });
  close();
}

RankRound round_of(const Schedule& schedule, const Phase& phase, int repeat, const ChunkSizes& sizes, int rank) {
  RankRound round;
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& placed, std::size_t /*index*/) {
    if (placed.from == rank) add_messages(round.sends, schedule, phase, placed, sizes, placed.to);
    if (placed.to == rank) add_messages(round.receives, schedule, phase, placed, sizes, placed.from);
  });
  return round;
}

}  // namespace

std::int64_t PeerMessage::elements() const {
  std::int64_t sum = 0;
  for (const ElementRange& range : ranges) sum += range.count;
  return sum;
}

RankProgram program_of(const Schedule& schedule, int rank, std::int64_t size) {
  const ChunkSizes sizes(Bytes(static_cast<double>(size)), schedule);
  RankProgram program{begin_of(sizes, schedule.chunks), begin_of(sizes, schedule.chunks / schedule.copies)};
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      RankRound round = round_of(schedule, phase, repeat, sizes, rank);
      if (!round.sends.empty() || !round.receives.empty()) program.rounds.push_back(std::move(round));
    }
  }
  return program;
}

}}  // namespace farandole::backend
