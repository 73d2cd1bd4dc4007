#include "simulate/collective_clock.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "simulate/folding/folded_message_clock.hpp"
#include "simulate/invariant.hpp"
#include "simulate/message_clock.hpp"
#include "simulate/recurrence_clock.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace simulate {
namespace {

std::unique_ptr<CollectiveClock> bare_clock(Fidelity fidelity, RoutedSchedule routed, ClockOptions options) {
  switch (fidelity) {
    case Fidelity::analytic:
      return std::make_unique<RecurrenceClock>(std::move(routed), Sharing::by_load, options);
    case Fidelity::flow:
      return std::make_unique<RecurrenceClock>(std::move(routed), Sharing::simulated, options);
    case Fidelity::message:
      if (routed.eager_sends() || routed.handshakes()) {
        return std::make_unique<MessageClock>(std::move(routed), options.network);
      }
      return std::make_unique<FoldedMessageClock>(std::move(routed), options);
  }
  throw InvariantError("a fidelity without a clock");
}

class CheckedClock final : public CollectiveClock {
 public:
  CheckedClock(Fidelity fidelity, RoutedSchedule routed, ClockOptions options)
      : bounds_(bounds_of(routed)),
        clock_(bare_clock(fidelity, std::move(routed), options)),
        may_overlook_(fidelity != Fidelity::message && has_root_that_receives(bounds_.operation.operation)) {}

  Answer answer(Bytes size, const RankTimes& start) override {
    if (start.size() == 1 || size == Bytes(0)) return {start, {}};
    if (!(start == start[0]).all()) return checked(size, start);
    // A collective that all ranks join at once takes the same time whenever that is.
    auto known = remembered_.find(size);
    if (known == remembered_.end())
      known = remembered_.emplace(size, checked(size, all_at(bounds_.operation.ranks, Seconds(0)))).first;
    return {known->second.ends + start[0], known->second.provenance};
  }
  [[nodiscard]] bool is_barrier(Bytes size) override { return !may_overlook_ && clock_->is_barrier(size); }
  void release_network() override { clock_->release_network(); }

 private:
  Answer checked(Bytes size, const RankTimes& start) {
    Answer answer = clock_->answer(size, start);
    if (may_overlook_) hold_root_to_its_link(size, start, answer.ends);
    check(size, start, answer.ends);
    return answer;
  }

  static bool has_root_that_receives(Operation operation) {
    return operation == Operation::gather || operation == Operation::reduce;
  }

  /// The root of a gather, or of a reduce that ends in one, may receive what was sent in different rounds at the same
  /// time, and clocks that look at one round after the other do not see that these share its link. They are held to
  /// what the link can do.
  void hold_root_to_its_link(Bytes size, const RankTimes& start, RankTimes& end) const {
    double& root = end[bounds_.operation.root];
    root = std::max(root, (earliest(start) + bounds_.least_time(size)).si());
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
  bool may_overlook_;
  std::map<Bytes, Answer> remembered_;
};

}  // namespace

void Provenance::include(const Provenance& other) {
  folded = folded && other.folded;
  rounded_up = std::max(rounded_up, other.rounded_up);
  used_builtin_solver = used_builtin_solver || other.used_builtin_solver;
}

RankTimes in_order(const RankTimes& of_ranks, const std::vector<int>& order) {
  return order.empty() ? of_ranks : RankTimes(of_ranks(order));
}

RankTimes in_ranks(const RankTimes& of_places, const std::vector<int>& order) {
  if (order.empty()) return of_places;
  RankTimes of_ranks(of_places.size());
  of_ranks(order) = of_places;
  return of_ranks;
}

std::string describe_rounding_up(double share) {
  const std::string counted =
      share < 1
          ? fmt::format("chunks that differ by a byte were all counted as the longest, at most {:.2g} % too many bytes",
                        share * 100)
          : "there are fewer bytes than chunks, and all chunks were counted as one byte";
  return counted +
         ", so that one rank can stand for those alike; where links are shared, ranks that a byte would part stay in "
         "step, up to some percent longer; --no-fold counts each as it is";
}

std::unique_ptr<CollectiveClock> make_collective_clock(Fidelity fidelity, RoutedSchedule routed, ClockOptions options) {
  if (fidelity != Fidelity::message) routed.forget_network_of_even_exchange();
  routed.forget_idle_links();
  routed.forget_uncrossed_links();
  return std::make_unique<CheckedClock>(fidelity, std::move(routed), options);
}

}}  // namespace farandole::simulate
