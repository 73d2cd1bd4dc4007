// Collectives that are under way at the same time over the same links: two buckets of one job, or two jobs.
//
// Called by whoever has more than one collective in flight: say which schedules there are, start them when ranks join,
// and hear of each when all of its ranks are done. Events of the caller's own can be put between (call_at), so that a
// loop that decides what to start next runs inside. Time starts at zero and only goes on.
//
//   message   every message of every collective in one network, which shares its links among all of them
//   flow      every collective goes through its phases one by one. A phase takes as long as it does with the rates that
//   analytic  all transfers of the phases now under way get when they are under way together: what SimGrid gives them
//             (flow), or capacity / load of the most loaded link (analytic). When another collective begins a phase or
//             ends, what is left of the phase goes on at the new pace. Alone, a collective takes what its own clock
//             says; each rank ends later than that by as much as the whole was held up. Ranks wait for one another
//             before anything of a collective slows others down.
//
// So two equal collectives that start together on links which both use all the time take, at every fidelity, what one
// with twice the transfers takes: two rings on a star, 2 (n-1) (alpha + 2 M / (n B)); what shares no link is not held
// up. Nothing is folded here: ranks that are alike in one collective need not be in another.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulate/fidelity.hpp"
#include "simulate/routed_schedule.hpp"
#include "training/rank_times.hpp"

namespace farandole {

class ConcurrentClock {
 public:
  /// What was started with the tag, or asked for with call_at (then without ends), is done now.
  using Done = std::function<void(int tag, const RankTimes& ends)>;

  virtual ~ConcurrentClock() = default;

  /// Starts a collective of a whole number of bytes with a schedule, by its index: before run() or from its callback.
  /// start[r]: when rank r joins, the last of them not before now(). Others may have been waiting since before, which
  /// counts at `analytic` and `flow`; messages are sent from now on.
  virtual void start(int schedule, Bytes size, const RankTimes& start, int tag) = 0;
  /// Reports the tag at a moment not before now().
  virtual void call_at(Seconds when, int tag) = 0;
  /// Until nothing is left; `done` may start more. Equal moments in the order of the calls that caused them.
  virtual void run(const Done& done) = 0;
  [[nodiscard]] virtual Seconds now() const = 0;
};

/// All schedules are laid onto one platform; at least one. At `message`, and at `flow` while it runs, the one network
/// that a process may have is its own (simulate/fluid_network.hpp).
std::unique_ptr<ConcurrentClock> make_concurrent_clock(Fidelity fidelity, std::vector<RoutedSchedule> schedules);

}  // namespace farandole
