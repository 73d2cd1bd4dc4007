// The answer of `message` without a simulator, where no two messages meet on a link.
//
// Called by simulate/folding/folded_message_clock.cpp before it sends every message of every rank. A message that has
// its links for itself takes latency + bytes / narrowest capacity, so the rule of simulate/message_clock.hpp is the
// max-plus recurrence of simulate/recurrence.hpp with the true length of every chunk in every round, eager or not:
// exact for ranks that start late, for chunks that differ by a byte, for pipelines. Whether messages meet is known
// beforehand where every link has one sender, who sends one thing at a time. Elsewhere it is looked at while ranks are
// carried: each link remembers until when it is taken, and a message that would begin before then is the end of the
// attempt. What comes through without such a meeting is what a simulator would have found, since nothing changed
// anyone's rate.
//
// Cost: about 2 ns a message where every rank sends to one and receives from one, 0.1 us elsewhere; nothing is sent.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "collective/chunk_sizes.hpp"
#include "collective/rank_times.hpp"
#include "simulate/recurrence.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

class MessageRecurrence {
 public:
  /// `routed` must outlive it.
  explicit MessageRecurrence(const RoutedSchedule& routed);

  /// When each rank ends; nothing where messages may meet, where links have congestion curves or sends are eager, and
  /// where a phase changes receivers or sends chunks one by one.
  [[nodiscard]] std::optional<RankTimes> completion_times(Bytes size, const RankTimes& start);
  /// The same of a schedule that is one pipeline whose messages never slow one another down; nothing of others.
  [[nodiscard]] std::optional<RankTimes> of_pipeline(Bytes size, const RankTimes& start);
  /// Known beforehand: `finish` has an answer, and it costs little.
  [[nodiscard]] bool never_meet() const { return never_meet_; }

 private:
  /// Of every transfer of a permutation of equal chunks, in any round.
  [[nodiscard]] TransferCosts costs_of_equal(std::size_t phase, Bytes chunk) const;
  /// Null where it is to be gone through.
  const KnownPhase* pipeline(Bytes size, const ChunkSizes& chunks);
  /// Round by round, with the chunks of each; false where two messages would meet.
  bool carry_phase(RankTimes& moments, std::size_t phase, const ChunkSizes& chunks);
  /// The same for a phase in which every rank sends to at most one and receives from at most one, equally many chunks
  /// each; false where these have too many lengths for it.
  bool carry_permutation(RankTimes& moments, std::size_t phase, const ChunkSizes& chunks) const;
  bool occupy(std::span<const int> links, double begin, double end);

  const RoutedSchedule& routed_;
  bool applies_;
  bool never_meet_;                                       // every link has one sender, who sends one thing at a time
  bool occupied_;                                         // messages keep processors busy
  std::vector<bool> permutation_;                         // per phase
  std::vector<double> taken_;                             // per link: until when
  std::map<Bytes, std::optional<KnownPhase>> pipelines_;  // by size
};

}}  // namespace farandole::simulate
