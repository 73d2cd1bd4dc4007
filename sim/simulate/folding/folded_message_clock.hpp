// The clock of `message` over representatives: one flow per class of transfers and round, where that is exact.
//
// Exact where all chunks are equally long, whoever starts when (ranks that start together may share a class). Where
// chunks differ by a byte, messages may meet, and there are more than `most_uneven` of them, all are counted as the
// longest if ranks fold then (`Provenance` says so): sending 4 million messages one by one takes 20 s, for one byte in
// 24,415 of each, and a million that are under way at once take as long. Everywhere else, and where folding would not
// at least halve the ranks, every rank is looked at: by the recurrence where no two messages meet on a link
// (simulate/message_recurrence.hpp), else by sending every message; `FoldingPolicy::never` always sends every message.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simulate/folding/fold.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/message_recurrence.hpp"

namespace farandole { inline namespace simulate {

class FoldedMessageClock final : public CollectiveClock {
 public:
  /// So many messages of chunks that differ by a byte are sent one by one, where the longest is this long: fewer where
  /// a byte is at most a thousandth of it.
  static std::int64_t most_uneven(Bytes longest) { return longest < Bytes(1000) ? 1 << 20 : 1 << 17; }
  /// `uneven`: so many in its place.
  FoldedMessageClock(RoutedSchedule routed, ClockOptions options, std::optional<std::int64_t> uneven = {})
      : routed_(std::move(routed)), policy_(options.folding), network_(options.network), uneven_(uneven) {}

  Answer answer(Bytes size, const RankTimes& start) override;
  void release_network() override {
    if (clock_ != nullptr) clock_->release_network();
  }

 private:
  /// A size of which all chunks are as long as the longest of `size`, where the difference is worth it.
  [[nodiscard]] std::optional<Bytes> size_rounded_up(Bytes size);
  MessageRecurrence& recurrence() { return recurrence_ ? *recurrence_ : recurrence_.emplace(routed_); }
  void choose(std::vector<int> groups, const RankTimes& start);

  RoutedSchedule routed_;
  FoldingPolicy policy_;
  NetworkSolver network_;
  std::optional<std::int64_t> uneven_;
  std::optional<MessageRecurrence> recurrence_;  // once it is asked
  // The network in use, for ranks that start in such groups. One at a time, as SimGrid wants it.
  std::vector<int> groups_;
  std::optional<Folding> folding_;
  static constexpr std::size_t most_foldings = 16;
  std::map<std::vector<int>, std::optional<Folding>> foldings_;  // by groups
  std::unique_ptr<MessageClock> clock_;
  std::optional<MessageRecurrence> of_one_;  // of a quotient that is one rank, whose messages meet nobody
};

}}  // namespace farandole::simulate
