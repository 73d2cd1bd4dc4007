// What SimGrid 3.32 gets wrong unless it is steered around it, and how this file does that. Each point has a test.
//
// 1. Its lazy solver computes wrong shares when several flows have paid their latency at one moment: only the first
//    link of each is solved anew. So SimGrid never sees a latency here: flows wait in our own queue and are created
//    in SimGrid the moment they begin to send, which marks all their links.
// 2. It weights the shares by 1 / latency of the route. Our zone reports the same latency, 1 s, for every route, and
//    network/latency-factor 0 makes nobody wait for it.
// 3. surf/precision merges events closer than 1e-9 s. Here it follows the clock: a few units in the last place of it.
//    A fixed 1e-13 s would still merge what lies closer, and would lose events altogether beyond 450 s, where the
//    clock itself is coarser.
// 4. A Comm must outlive its own completion. Ours live as long as the network and are used again, which also keeps
//    SimGrid's list of direct comms, scanned whole at every end of one, empty.
// 5. A comm of 0 bytes never starts and a size is a whole number: both are checked.
// 6. The defaults model TCP over a WAN: every factor is pinned below.
// 7. The clock runs on between engines, so the rounding of a result would depend on what ran before: it is set back.
#include "simulate/fluid_network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <exception>
#include <queue>
#include <stdexcept>
#include <utility>

#include <dlfcn.h>
#include <signal.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

namespace farandole {
namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

using Route = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;

// SimGrid's clock is used only up to a horizon, a power of two, and compares times to 8 units in the last place of it:
// enough for the rounding of `now + (date - now)` and of the bytes left, and nothing more.
constexpr double kFirstHorizon = 0x1p-20;
constexpr double kPrecision = 0x1p-50;

const std::map<std::string, std::string>& fixed_settings() {
  static const std::map<std::string, std::string> settings = {
      {"maxmin/precision", "1e-12"},      // default 1e-5 gives the flows of a link up once 1e-5 of it is left
      {"network/bandwidth-factor", "1"},  // the file of the platform says what a link really carries
      {"network/crosstraffic", "no"},     // no acknowledgements on the way back
      {"network/latency-factor", "0"},    // see 2
      {"network/model", "CM02"},         {"network/optim", "Lazy"},
      {"network/solver", "maxmin"},      {"network/TCP-gamma", "0"},  // no window
      {"network/weight-S", "0"},
  };
  return settings;
}

// SimGrid takes over Ctrl-C and segmentation faults when an engine is made; they belong to the program.
class KeepSignalHandlers {
 public:
  KeepSignalHandlers() {
    each([](int signal, struct sigaction* old) { sigaction(signal, nullptr, old); });
  }
  ~KeepSignalHandlers() {
    each([](int signal, struct sigaction* old) { sigaction(signal, old, nullptr); });
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;

 private:
  template <class F>
  void each(F&& f) {
    constexpr std::array signals = {SIGINT, SIGSEGV, SIGBUS};
    for (std::size_t i = 0; i < signals.size(); ++i) f(signals[i], &old_[i]);
  }
  std::array<struct sigaction, 3> old_;
};

// SimGrid offers no way to set its clock back but exports it. Where the symbol is missing the clock runs on, times are
// taken relative to its start, and only their last digits are the worse for it.
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
  static const bool configured = [] {
    for (const auto& [key, value] : fixed_settings()) s4u::Engine::set_config(key + ":" + value);
    return true;
  }();
  static_cast<void>(configured);
  return engine;
}

// All flows go from one host to one other; the route is the one that was chosen just before the flow was started.
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

class FluidNetwork::Engine {
 public:
  explicit Engine(std::span<const FluidLink> links);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  int add_route(std::span<const int> links);
  void await(double when, double latency, double size, int route, int tag);
  void run(const Done& done);
  double now() const { return s4u::Engine::get_clock() - origin_; }

  static constexpr int kNoRoute = -1;

 private:
  // A flow that is not sending yet, or a call.
  struct Pending {
    double date;
    std::uint64_t order;
    std::uint64_t size;
    int route;
    int tag;
    bool operator>(const Pending& other) const { return date != other.date ? date > other.date : order > other.order; }
  };
  // A place for a flow that is sending.
  struct Slot {
    Engine* engine;
    s4u::CommPtr comm;
    int tag;
  };

  static void connect_completions();
  void begin_due();
  void send(const Pending& flow);
  void complete(Slot& slot, double finish_time);
  void report(int tag);
  void raise_horizon();
  void arm();
  void disarm();

  std::unique_ptr<s4u::Engine> engine_;
  RouteZone* zone_;  // SimGrid's: it deletes the zone with the engine
  s4u::Host* source_;
  s4u::Host* target_;
  std::vector<s4u::Link*> links_;
  std::deque<Route> routes_;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::deque<Slot> slots_;  // their comms go before the engine
  std::vector<Slot*> idle_;
  std::uint64_t order_ = 0;
  int sending_ = 0;
  double origin_;
  double horizon_ = kFirstHorizon;
  Timer* timer_ = nullptr;  // SimGrid's; at the next pending date or the horizon
  double timer_date_ = 0;
  const Done* done_ = nullptr;
  std::exception_ptr thrown_;
};

FluidNetwork::Engine::Engine(std::span<const FluidLink> links)
    : engine_(make_engine()),
      zone_(new RouteZone),
      source_(zone_->create_host("source", {1.0})),
      target_(zone_->create_host("target", {1.0})),
      origin_(s4u::Engine::get_clock()) {
  for (const FluidLink& link : links) {
    const double capacity = link.capacity.si();
    if (!(capacity > 0) || !std::isfinite(capacity)) throw std::invalid_argument("a link needs a capacity");
    links_.push_back(zone_->create_link(std::to_string(links_.size()), {capacity})->seal());
  }
  zone_->seal();
  connect_completions();
}

FluidNetwork::Engine::~Engine() {
  disarm();
  // A comm that is dropped while it runs prints a backtrace; cancelled ones do not.
  for (Slot& slot : slots_) slot.comm->set_state(s4u::Activity::State::CANCELED);
}

// SimGrid's signal is a global that cannot be left again, so it is joined once, and each comm says whose it is.
void FluidNetwork::Engine::connect_completions() {
  static const bool connected = [] {
    s4u::Activity::on_completion_cb([](const s4u::Activity& activity) {
      if (auto* slot = activity.get_data<Slot>(); slot != nullptr) {
        slot->engine->complete(*slot, activity.get_finish_time());
      }
    });
    return true;
  }();
  static_cast<void>(connected);
}

int FluidNetwork::Engine::add_route(std::span<const int> links) {
  if (links.empty()) throw std::invalid_argument("a route needs a link");
  Route route;
  for (const int link : links) {
    if (link < 0 || static_cast<std::size_t>(link) >= links_.size()) throw std::invalid_argument("no such link");
    route.push_back(links_[static_cast<std::size_t>(link)]->get_impl());
  }
  routes_.push_back(std::move(route));
  return static_cast<int>(routes_.size()) - 1;
}

void FluidNetwork::Engine::await(double when, double latency, double size, int route, int tag) {
  if (!(when >= now()) || !std::isfinite(when)) throw std::logic_error("a flow or call starts now or later");
  const double date = origin_ + when + latency;
  pending_.push({date, order_++, static_cast<std::uint64_t>(size), route, tag});
  if (done_ != nullptr) arm();
}

void FluidNetwork::Engine::run(const Done& done) {
  if (done_ != nullptr) throw std::logic_error("run() called from its own callback");
  done_ = &done;
  raise_horizon();
  arm();
  engine_->run();
  done_ = nullptr;
  disarm();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  if (sending_ != 0 || !pending_.empty()) throw std::logic_error("SimGrid stopped while flows were still sending");
}

// Runs as SimGrid's timer: everything it does to flows happens here, never inside the completion of another flow.
void FluidNetwork::Engine::begin_due() {
  timer_ = nullptr;
  const double clock = s4u::Engine::get_clock();
  if (clock >= horizon_) raise_horizon();
  while (!pending_.empty() && pending_.top().date <= clock) {
    const Pending next = pending_.top();
    pending_.pop();
    if (next.route == kNoRoute) {
      report(next.tag);
    } else {
      send(next);
    }
  }
  arm();
}

void FluidNetwork::Engine::send(const Pending& flow) {
  zone_->choose(routes_[static_cast<std::size_t>(flow.route)]);
  ++sending_;
  if (idle_.empty()) {
    Slot& slot = slots_.emplace_back(Slot{this, s4u::Comm::sendto_init(), flow.tag});
    slot.comm->set_data(&slot);
    slot.comm->set_payload_size(flow.size)->set_source(source_)->set_destination(target_);
    return;
  }
  Slot& slot = *idle_.back();
  idle_.pop_back();
  slot.tag = flow.tag;
  slot.comm->set_state(s4u::Activity::State::INITED);
  slot.comm->set_payload_size(flow.size);
  slot.comm->vetoable_start();
}

void FluidNetwork::Engine::complete(Slot& slot, double finish_time) {
  --sending_;
  idle_.push_back(&slot);
  if (s4u::Engine::get_clock() - finish_time > 2 * horizon_ * kPrecision && !thrown_) {
    thrown_ = std::make_exception_ptr(std::logic_error("SimGrid reported the end of a flow too late"));
  }
  report(slot.tag);
  if (sending_ == 0 && pending_.empty()) disarm();
}

// An exception may not pass through SimGrid: the rest runs out in silence and run() throws it.
void FluidNetwork::Engine::report(int tag) {
  if (thrown_) return;
  try {
    (*done_)(tag);
  } catch (...) {
    thrown_ = std::current_exception();
    pending_ = {};
  }
}

void FluidNetwork::Engine::raise_horizon() {
  while (horizon_ <= s4u::Engine::get_clock()) horizon_ *= 2;
  s4u::Engine::set_config("surf/precision", horizon_ * kPrecision);
}

void FluidNetwork::Engine::arm() {
  if (pending_.empty() && sending_ == 0) return;
  const double date = pending_.empty() ? horizon_ : std::min(horizon_, pending_.top().date);
  if (timer_ != nullptr) {
    if (timer_date_ <= date) return;
    timer_->remove();
  }
  timer_date_ = date;
  timer_ = Timer::set(date, [this] { begin_due(); });
}

void FluidNetwork::Engine::disarm() {
  if (timer_ != nullptr) std::exchange(timer_, nullptr)->remove();
}

FluidNetwork::FluidNetwork(std::span<const FluidLink> links) : engine_(std::make_unique<Engine>(links)) {}
FluidNetwork::~FluidNetwork() = default;

int FluidNetwork::add_route(std::span<const int> links) {
  return engine_->add_route(links);
}

void FluidNetwork::start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) {
  const double bytes = size.si();
  if (!(bytes >= 1) || bytes > 0x1p63 || bytes != std::floor(bytes)) {
    throw std::invalid_argument("a flow has a whole number of bytes, at least one");
  }
  if (!(latency.si() >= 0) || !std::isfinite(latency.si())) throw std::invalid_argument("a latency is never negative");
  engine_->await(when.si(), latency.si(), bytes, route, tag);
}

void FluidNetwork::call_at(Seconds when, int tag) {
  engine_->await(when.si(), 0, 0, Engine::kNoRoute, tag);
}

void FluidNetwork::run(const Done& done) {
  engine_->run(done);
}

Seconds FluidNetwork::now() const {
  return Seconds(engine_->now());
}

std::map<std::string, std::string> simgrid_settings() {
  std::map<std::string, std::string> settings = fixed_settings();
  int major = 0;
  int minor = 0;
  int patch = 0;
  sg_version_get(&major, &minor, &patch);
  settings["version"] = std::to_string(major) + "." + std::to_string(minor);
  if (patch != 0) settings["version"] += "." + std::to_string(patch);
  settings["surf/precision"] = "2^-50 of the clock";
  return settings;
}

}  // namespace farandole
