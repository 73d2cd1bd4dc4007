#include "simulate/collective_clock.hpp"

#include <map>

#include <fmt/format.h>

#include "simulate/bounds.hpp"
#include "simulate/invariant.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/recurrence_clock.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole {
namespace {

std::unique_ptr<CollectiveClock> bare_clock(Fidelity fidelity, RoutedSchedule routed) {
  switch (fidelity) {
    case Fidelity::analytic:
      return std::make_unique<RecurrenceClock>(std::move(routed), analytic_rates);
    case Fidelity::flow:
      return std::make_unique<RecurrenceClock>(std::move(routed), flow_rates);
    case Fidelity::message:
      return std::make_unique<MessageClock>(std::move(routed));
  }
  throw InvariantError("a fidelity without a clock");
}

class CheckedClock final : public CollectiveClock {
 public:
  CheckedClock(Fidelity fidelity, RoutedSchedule routed)
      : bounds_(bounds_of(routed)), clock_(bare_clock(fidelity, std::move(routed))) {}

  RankTimes finish(Bytes size, const RankTimes& start) override {
    if (start.size() == 1 || size == Bytes(0)) return start;
    if ((start == start[0]).all()) return RankTimes(together(size) + start[0]);
    RankTimes end = clock_->finish(size, start);
    check(size, start, end);
    return end;
  }

 private:
  /// A collective that all ranks join at once takes the same time whenever that is.
  const RankTimes& together(Bytes size) {
    const auto found = remembered_.find(size);
    if (found != remembered_.end()) return found->second;
    const RankTimes start = all_at(bounds_.operation.ranks, Seconds(0));
    RankTimes end = clock_->finish(size, start);
    check(size, start, end);
    return remembered_.emplace(size, std::move(end)).first->second;
  }

  void check(Bytes size, const RankTimes& start, const RankTimes& end) const {
    // From the first rank's start: what is done before the last one starts counts.
    const Seconds taken = latest(end) - earliest(start);
    const Seconds least = bounds_.least_time(size);
    if (taken < least * (1 - 1e-9)) {
      throw InvariantError(fmt::format("{} of {} bytes over {} ranks took {} s, less than the bound of {} s",
                                       name(bounds_.operation.operation), size.si(), bounds_.operation.ranks,
                                       taken.si(), least.si()));
    }
    if ((end < start).any()) throw InvariantError("a rank finished a collective before it joined");
  }

  CollectiveBounds bounds_;
  std::unique_ptr<CollectiveClock> clock_;
  std::map<Bytes, RankTimes> remembered_;
};

}  // namespace

std::unique_ptr<CollectiveClock> make_collective_clock(Fidelity fidelity, RoutedSchedule routed) {
  return std::make_unique<CheckedClock>(fidelity, std::move(routed));
}

}  // namespace farandole
