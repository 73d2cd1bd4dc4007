// A network of links that flows share max-min fairly, simulated by SimGrid or by ourselves; the one door to SimGrid.
//
// The executors of schedules call it: they add the routes they need, start flows, and start the next ones from the
// callback that reports an end. A flow waits its latency, then sends its bytes over every link of its route at once,
// at the rate r of the max-min fair allocation of the flows that send at that moment:
//
//   for every link l:  sum over flows f of times(f, l) / paths(f) * r(f) <= capacity(l),  and no r(f) can grow without
//   lowering a smaller or equal one;
//
// where the capacity of a link with a congestion curve is that at the load of the moment;
// times(f, l) is how often the route of f lists l, and paths(f) over how many paths it is split. Latency takes no part
// in the sharing.
//
// Invariants: one network of SimGrid's exists at a time in a process (it is a singleton), any number may follow one
// another, and nothing of an earlier one shows in the times of a later one, to the last bit. Time starts at zero. Equal
// times are handled in the order of the calls that caused them, so a run is reproducible.
//
// Two solvers, which agree to rounding (tests/simulate/two_solvers_test.cpp):
//
//   CPU time of a flow that                     SimGrid    ours
//   shares no link                              0.6 us     0.1 us
//   is one of 256 ranks' alltoall, all shared   80 us      4 us
//
// SimGrid's grows with all flows that share links, directly or not, ours with those whose rate a change may reach; and
// SimGrid walks flows that are coupled in a chain by recursion: 32,000 in a row need 8 MB of stack.
//
// SimGrid is the reference. Ours takes its place where somebody says so, beyond `most_for_simgrid`, and where SimGrid
// is not installed or the program was built without it (FARANDOLE_SIMGRID=OFF).
//
// Errors: std::invalid_argument for a capacity, size, latency or index out of range; std::logic_error for a second
// network of SimGrid's, or one where it is not there, a time in the past and for flows that SimGrid never ended. An
// exception thrown by the callback leaves run().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "platform/congestion.hpp"
#include "simulate/shared_network.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

/// One direction of a cable, or anything else whose bytes per second are shared.
struct FluidLink {
  BytesPerSecond capacity;  // positive and finite
  Congestion congestion{};  // by its load: the sum of times(f, l) / paths(f) of the flows that send
};

enum class NetworkSolver : std::uint8_t { as_it_pays, simgrid, own };

/// Whether SimGrid is there; a run that does not need it does not load it.
bool has_simgrid();

/// Why it cannot be used, having tried; empty where it can.
std::string why_no_simgrid();

/// So many messages are SimGrid's to send, unless somebody says otherwise; more are ours.
constexpr std::int64_t most_for_simgrid = 100'000;
/// Likewise, flows that start at once: where these share links, SimGrid's time grows with the square of their number.
constexpr std::int64_t most_at_once_for_simgrid = 1024;
/// Likewise, links of a network, which clocks that take turns make anew: Leonardo's 126,000 take SimGrid 0.3 s.
constexpr std::int64_t most_links_for_simgrid = 100'000;

/// What `as_it_pays` comes to.
NetworkSolver solver_for(NetworkSolver wanted, std::int64_t messages, std::int64_t at_once = 0, std::int64_t links = 0);

class FluidNetwork final : public SharedNetwork {
 public:
  /// `parts`: a multiple of the paths of every route. SimGrid knows whole multiplicities only, so there every link has
  /// so many times its capacity and is listed parts / paths times as often, which costs as much longer. Of the solver
  /// `as_it_pays`: SimGrid if it is there.
  explicit FluidNetwork(std::span<const FluidLink> links, int parts = 1,
                        NetworkSolver solver = NetworkSolver::as_it_pays);
  /// The index of a new route over these links (at least one), split evenly over `paths` paths; a link listed k times
  /// carries k / paths of the flow. Routes may be added at any time, also from the callback; the same route serves any
  /// number of flows.
  int add_route(std::span<const int> links, int paths = 1) override { return network_->add_route(links, paths); }

  /// Nothing to send is not a flow: skip it, or use call_at where the moment still matters.
  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) override {
    network_->start_at(when, route, latency, size, tag);
  }

  /// Reports the tag at a moment not before now(), without any flow.
  void call_at(Seconds when, int tag) override { network_->call_at(when, tag); }

  /// Simulates until no flow and no call is left; `done` may start more. now() is then the last end.
  void run(const Done& done) override { network_->run(done); }

  void restart() override { network_->restart(); }
  [[nodiscard]] Seconds now() const override { return network_->now(); }

 private:
  std::unique_ptr<SharedNetwork> network_;
};

/// SimGrid's version and every setting of it that the times depend on; nothing where it is not there.
std::map<std::string, std::string> simgrid_settings();

/// To be printed beside a result: what shares the links, with SimGrid's settings where that may have been it.
std::map<std::string, std::string> network_settings(NetworkSolver wanted);

/// A sentence for whoever reads a result for which our solver took SimGrid's place unasked.
std::string describe_own_network();

}}  // namespace farandole::simulate
