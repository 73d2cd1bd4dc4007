// The clock of `message`: every transfer of every round is sent over a network (simulate/fluid_network.hpp).
//
// A rank enters a round when its own transfers of the round before, sent and received, are done, and then sends. A
// short message is eager: it starts at once, and what arrives early waits for its round. One that is not (MessageCost
// of platform/platform.hpp) starts when its receiver has posted the receive, too: when that enters the same round, as
// MPI's blocking algorithms do, or in a pipeline (a phase with a window) the round before. Where reducing costs
// something, the receiver reduces what has arrived one after the other, at the earliest when it enters the round, and
// leaves it when all is reduced. Transfers of empty chunks are not sent and count as done when their sender enters the
// round. Cost: one flow per transfer and round.
//
// On a platform with eager sends (platform/platform.hpp) a rank does not wait for what it sends, if that is eager: it
// enters the next round when what it receives is there. Its messages to one receiver follow one another, those to
// others share its links: an MPI rank whose sends return at once. The transport may have a send window: what a rank
// posts for one receiver then begins only when that much of what it posted before for another one could have left, and
// shares its links from then on, as TCP connections do that each fill their window before they wait for
// acknowledgements. The other clocks wait for sends all the same.
//
// The network is made at the first collective, of the links that messages cross, and kept for the following ones, since
// SimGrid gets slower with every engine a process has had; so only one message clock may be in use at a time
// (simulate/fluid_network.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "simulate/collective_clock.hpp"

namespace farandole { inline namespace simulate {

class MessageClock final : public CollectiveClock {
 public:
  explicit MessageClock(RoutedSchedule routed, NetworkSolver solver = NetworkSolver::as_it_pays);

  /// Whatever a schedule sends, in all repeats.
  static std::int64_t messages_of(const Schedule& schedule);

  /// Throws InvariantError when a byte that was sent is not received or a rank never finishes.
  Answer answer(Bytes size, const RankTimes& start) override;
  void release_network() override;

  /// One collective under way (simulate/message_run.hpp); several may be, on a network that their clocks share.
  class Run;
  /// Sends over a network that has in_network(l) for the routed schedule's link l; asked for links that are crossed.
  void use(std::shared_ptr<SharedNetwork> network, std::function<int(int)> in_network);
  /// How many of the network's tags a run needs.
  [[nodiscard]] int tags() const { return 3 * static_cast<int>(transfers_.size()) + 2 * routed_.schedule().ranks; }

 private:
  struct OwnLinks;
  [[nodiscard]] OwnLinks own_links() const;
  void make_network();
  [[nodiscard]] std::int64_t messages_to_send() const;
  [[nodiscard]] int add_route(const RoutedSchedule::Leg& leg);
  [[nodiscard]] int route_over(const RoutedSchedule::Leg& leg);

  /// What a transfer of any phase sends in one lane, numbered through.
  struct Numbered {
    std::size_t phase;
    std::size_t index;  // within the phase, as for_each_transfer counts
  };
  struct OfRank {
    std::vector<int> sends;
    std::vector<int> receives;  // in the first repeat
  };

  [[nodiscard]] const Transfer& pattern(int number) const;
  [[nodiscard]] Transfer placed(int number, int repeat) const;
  /// What the rank receives in that repeat of the phase, if it takes part then.
  [[nodiscard]] const std::vector<int>& receives(std::size_t phase, int repeat, int rank) const;

  RoutedSchedule routed_;
  NetworkSolver wanted_;
  bool used_builtin_solver_ = false;
  std::int64_t sent_ = 0;  // messages, in all collectives
  std::vector<Numbered> transfers_;
  std::vector<std::vector<OfRank>> phases_;
  std::shared_ptr<SharedNetwork> network_;
  std::shared_ptr<const OwnLinks> crossed_;                       // once that has been made
  std::function<int(int)> in_network_;                            // the number of the schedule's link
  std::vector<int> routes_;                                       // per transfer, in its first repeat
  std::map<std::pair<std::vector<int>, int>, int> moved_routes_;  // by links and paths, where receivers move on
};

}}  // namespace farandole::simulate
