// The clock of `message` over representatives: one flow per class of transfers and round, where that is exact.
//
// Exact where all chunks are equally long, whoever starts when (ranks that start together may share a class), and for
// the makespan where chunks differ but pace.hpp applies and all start together. Everywhere else, and where folding
// would not at least halve the ranks, every rank is looked at: by the recurrence where no two messages meet on a link
// (simulate/message_recurrence.hpp), else by sending every message; `FoldingPolicy::never` always sends every message.
//
// Where pace.hpp applies, all chunks count as the longest, folded or not: all ranks end with the last. By what it was
// sent a rank could end some bytes' time earlier; if the folded network ended later there than the other, the two would
// part when ranks join the next collective as they come from this one.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "simulate/folding/fold.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/message_recurrence.hpp"

namespace farandole {

class FoldedMessageClock final : public CollectiveClock {
 public:
  FoldedMessageClock(RoutedSchedule routed, FoldingPolicy policy)
      : routed_(std::move(routed)), policy_(policy), recurrence_(routed_) {}

  RankTimes finish(Bytes size, const RankTimes& start) override;
  [[nodiscard]] bool folded() const override { return folding_.has_value(); }
  void rest() override;

 private:
  [[nodiscard]] std::optional<Bytes> size_of_equal_chunks(Bytes size, bool together);
  void choose(std::vector<int> groups, const RankTimes& start);

  RoutedSchedule routed_;
  FoldingPolicy policy_;
  MessageRecurrence recurrence_;
  std::optional<bool> paced_;  // by the longest chunk; once anyone asks
  // The network in use, for ranks that start in such groups. One at a time, as SimGrid wants it.
  std::vector<int> groups_;
  std::optional<Folding> folding_;
  std::unique_ptr<MessageClock> clock_;
};

}  // namespace farandole
