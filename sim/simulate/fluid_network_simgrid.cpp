// What SimGrid 3.32 gets wrong unless it is steered around it, and how this file does that. Each point has a test.
//
// 1. Its lazy solver computes wrong shares when several flows have paid their latency at one moment: only the first
//    link of each is solved anew. So SimGrid never sees a latency: FluidNetwork waits, and a flow is made in SimGrid
//    the moment it begins to send, which marks all its links.
// 2. It weights the shares by 1 / latency of the route. Our zone reports the same latency, 1 s, for every route, and
//    network/latency-factor 0 makes nobody wait for it.
// 3. surf/precision merges events closer than 1e-9 s. Here it follows the clock: a few units in the last place of it.
//    A fixed 1e-13 s would still merge what lies closer, and would lose events altogether beyond 450 s, where the
//    clock itself is coarser.
// 4. A Comm must outlive its own completion. Ours live as long as the engine and are used again. That is also what
//    makes it fast: SimGrid's list of direct comms, scanned whole at every end of one, stays empty.
// 5. A comm of 0 bytes never starts and a size is a whole number: FluidNetwork checks both.
// 6. The defaults model TCP over a WAN: every factor is pinned below.
// 7. The clock runs on between engines, so the rounding of a result would depend on what ran before: it is set back.
#include "simulate/fluid_network_simgrid.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include "simulate/fluid_network.hpp"

namespace farandole {
namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

using Route = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;

// SimGrid runs up to a horizon, a power of two, and compares times to 8 units in the last place of that: enough for
// the rounding of `now + (date - now)` and of the bytes left, and nothing more.
constexpr double kFirstHorizon = 0x1p-20;
constexpr double kPrecision = 0x1p-50;
constexpr double kNever = std::numeric_limits<double>::infinity();

const std::map<std::string, std::string>& fixed_settings() {
  static const std::map<std::string, std::string> settings = {
      {"maxmin/precision", "1e-12"},      // the default takes a link for full with 1e-5 of it left
      {"network/bandwidth-factor", "1"},  // the file of the platform says what a link really carries
      {"network/crosstraffic", "no"},     // no acknowledgements on the way back
      {"network/latency-factor", "0"},    // see 2
      {"network/model", "CM02"},         {"network/optim", "Lazy"},
      {"network/solver", "maxmin"},      {"network/TCP-gamma", "0"},  // no window
      {"network/weight-S", "0"},                                      // and no bandwidth in the weights
  };
  return settings;
}

// SimGrid takes over Ctrl-C and segmentation faults when an engine is made; they belong to the program.
struct KeepSignalHandlers {
  KeepSignalHandlers() {
    each([](int signal, struct sigaction& old) { sigaction(signal, nullptr, &old); });
  }
  ~KeepSignalHandlers() {
    each([](int signal, struct sigaction& old) { sigaction(signal, &old, nullptr); });
  }
  void each(void (*act)(int signal, struct sigaction& old)) {
    for (auto& [signal, old] : handlers) act(signal, old);
  }
  std::array<std::pair<int, struct sigaction>, 3> handlers = {{{SIGINT, {}}, {SIGSEGV, {}}, {SIGBUS, {}}}};
};

// SimGrid offers no way to set its clock back but exports it. Were the symbol missing, the clock would run on, and
// times, which are relative to its start, would lose digits.
void set_clock_back() {
  static auto* const clock = static_cast<double*>(dlsym(RTLD_DEFAULT, "_ZN7simgrid6kernel10EngineImpl4now_E"));
  if (clock != nullptr) *clock = 0;
}

std::unique_ptr<s4u::Engine> make_engine() {
  if (s4u::Engine::has_instance()) throw std::logic_error("a process holds one FluidNetwork at a time");
  const KeepSignalHandlers keep;
  set_clock_back();
  std::array<std::string, 3> words = {"farandole", "--log=root.thresh:critical", "--cfg=debug/clean-atexit:no"};
  std::array<char*, 4> argv = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  int argc = 3;
  auto engine = std::make_unique<s4u::Engine>(&argc, argv.data());
  // SimGrid keeps its settings for the whole process and refuses to choose the model twice.
  [[maybe_unused]] static const bool configured = [] {
    for (const auto& [key, value] : fixed_settings()) s4u::Engine::set_config(key + ":" + value);
    return true;
  }();
  return engine;
}

// All flows go from one host to one other; the route is the one chosen just before the flow is started.
class RouteZone : public simgrid::kernel::routing::NetZoneImpl {
 public:
  RouteZone() : NetZoneImpl("fluid") {}
  void choose(const Route& route) { route_ = &route; }
  void get_local_route(const simgrid::kernel::routing::NetPoint* /*from*/,
                       const simgrid::kernel::routing::NetPoint* /*to*/, simgrid::kernel::routing::Route* into,
                       double* latency) override {
    into->link_list_ = *route_;
    if (latency != nullptr) *latency += 1;
  }

 private:
  const Route* route_ = nullptr;
};

}  // namespace

struct SimGridEngine::State {
  // A place for a flow; its comm serves one flow after the other.
  struct Slot {
    State* state;
    s4u::CommPtr comm;
    int tag;
  };

  State(std::span<const BytesPerSecond> capacities, Events reported);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  void add_slot();
  void complete(Slot& slot, double finish_time);
  void ring();
  void raise_horizon();
  void arm();
  void disarm();

  std::unique_ptr<s4u::Engine> engine;
  Events events;
  RouteZone* zone;  // SimGrid's, which deletes it with the engine
  s4u::Host* source;
  s4u::Host* target;
  double origin;
  Route links;  // all
  Route dead_link;
  std::deque<Route> routes;
  std::deque<Slot> slots;  // after the engine: comms must go before it
  std::vector<Slot*> idle;
  int sending = 0;
  bool late = false;
  double horizon = kFirstHorizon;
  double wanted = kNever;
  Timer* timer = nullptr;  // SimGrid's, at timer_date
  double timer_date = kNever;
};

namespace {

// SimGrid's signal is global and cannot be left again, so it is joined once and each comm says whose it is.
template <class Slot>
void connect_completions() {
  [[maybe_unused]] static const bool connected = [] {
    s4u::Activity::on_completion_cb([](const s4u::Activity& activity) {
      auto* slot = activity.get_data<Slot>();
      if (slot != nullptr) slot->state->complete(*slot, activity.get_finish_time());
    });
    return true;
  }();
}

}  // namespace

SimGridEngine::State::State(std::span<const BytesPerSecond> capacities, Events reported)
    : engine(make_engine()),
      events(std::move(reported)),
      zone(new RouteZone),
      source(zone->create_host("source", {1.0})),
      target(zone->create_host("target", {1.0})),
      origin(s4u::Engine::get_clock()) {
  for (const BytesPerSecond capacity : capacities) {
    links.push_back(zone->create_link(std::to_string(links.size()), {capacity.si()})->get_impl());
  }
  s4u::Link* const dead = zone->create_link("dead", {1.0});
  dead->turn_off();
  dead_link = {dead->get_impl()};
  zone->seal();
  connect_completions<Slot>();
  raise_horizon();
}

SimGridEngine::State::~State() {
  disarm();
  // A comm that is dropped while it runs prints a backtrace; a cancelled one does not.
  for (Slot& slot : slots) slot.comm->set_state(s4u::Activity::State::CANCELED);
}

// A new comm enters SimGrid's list of direct comms and leaves it at its first end. It ends at once over a dead link.
void SimGridEngine::State::add_slot() {
  Slot& slot = slots.emplace_back(Slot{this, s4u::Comm::sendto_init(), 0});
  slot.comm->set_data(&slot);
  zone->choose(dead_link);
  slot.comm->set_payload_size(1)->set_source(source)->set_destination(target);
  idle.push_back(&slot);
}

// A comm may not start again in here, where SimGrid has not finished with it; from the next timer on it may.
void SimGridEngine::State::complete(Slot& slot, double finish_time) {
  --sending;
  idle.push_back(&slot);
  late |= s4u::Engine::get_clock() - finish_time > 2 * kPrecision * horizon;
  events.done(slot.tag);
  if (sending == 0 && wanted == kNever) disarm();
}

void SimGridEngine::State::ring() {
  timer = nullptr;
  timer_date = kNever;
  const double now = s4u::Engine::get_clock();
  if (now >= horizon) raise_horizon();
  if (now >= origin + wanted) events.timer(Seconds(std::exchange(wanted, kNever)));
  arm();
}

void SimGridEngine::State::raise_horizon() {
  while (horizon <= s4u::Engine::get_clock()) horizon *= 2;
  s4u::Engine::set_config("surf/precision", horizon * kPrecision);
}

// SimGrid runs as long as there is a timer, so there is one only while something is under way.
void SimGridEngine::State::arm() {
  if (sending == 0 && wanted == kNever) return;
  const double date = std::min(horizon, origin + wanted);
  if (timer_date <= date) return;
  disarm();
  timer_date = date;
  timer = Timer::set(date, [this] { ring(); });
}

void SimGridEngine::State::disarm() {
  if (timer != nullptr) std::exchange(timer, nullptr)->remove();
  timer_date = kNever;
}

SimGridEngine::SimGridEngine(std::span<const BytesPerSecond> capacities, Events events)
    : state_(std::make_unique<State>(capacities, std::move(events))) {}
SimGridEngine::~SimGridEngine() = default;

int SimGridEngine::add_route(std::span<const int> links) {
  Route& route = state_->routes.emplace_back();
  for (const int link : links) route.push_back(state_->links[static_cast<std::size_t>(link)]);
  return static_cast<int>(state_->routes.size()) - 1;
}

void SimGridEngine::send(int route, std::uint64_t size, int tag) {
  if (state_->idle.empty()) state_->add_slot();
  State::Slot& slot = *state_->idle.back();
  state_->idle.pop_back();
  slot.tag = tag;
  ++state_->sending;
  state_->zone->choose(state_->routes[static_cast<std::size_t>(route)]);
  slot.comm->set_state(s4u::Activity::State::INITED);
  slot.comm->set_payload_size(size);
  slot.comm->vetoable_start();
  state_->arm();
}

void SimGridEngine::ring_at(Seconds date) {
  state_->wanted = std::min(state_->wanted, date.si());
  state_->arm();
}

void SimGridEngine::run() {
  state_->engine->run();
  if (state_->late) throw std::logic_error("SimGrid reported the end of a flow too late");
}

Seconds SimGridEngine::clock() const {
  return Seconds(s4u::Engine::get_clock() - state_->origin);
}

std::map<std::string, std::string> simgrid_settings() {
  std::map<std::string, std::string> settings = fixed_settings();
  std::array<int, 3> version{};
  sg_version_get(&version[0], &version[1], &version[2]);
  settings["version"] = fmt::format("{}", fmt::join(version, "."));
  settings["surf/precision"] = "2^-50 of the clock";
  return settings;
}

}  // namespace farandole
