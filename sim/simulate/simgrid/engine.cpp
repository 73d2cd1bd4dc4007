// The module "simgrid": what SimGrid 3.32 gets wrong unless it is steered around it, and how this file does that. Each
// point has a test.
//
// 1. Its lazy solver computes wrong shares when several flows have paid their latency at one moment: only the first
//    link of each is solved anew. So SimGrid never sees a latency: FluidNetwork waits, and a flow is made in SimGrid
//    the moment it begins to send, which marks all its links.
// 2. It weights the shares by 1 / latency of the route. Without latency all weights are 1.
// 3. surf/precision merges events closer than 1e-9 s. Here it follows the clock, at a few units in its last place: any
//    fixed one is too coarse for the first events of a fast network or finer than the clock late in a long run.
// 4. A Comm must outlive its own completion. Ours live as long as the engine and are used again. That is also what
//    makes it fast: SimGrid's list of direct comms, scanned whole at every end of one, stays empty.
// 5. A comm of 0 bytes never starts and a size is a whole number: FluidNetwork checks both.
// 6. The defaults model TCP over a WAN: every factor is pinned below.
// 7. The clock runs on between engines, so the rounding of a result would depend on what ran before: it is set back.
// 8. Every engine leaves a callback behind that all later flows call, 15 ns each: they are removed.
#include <algorithm>
#include <array>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include "simulate/fluid_network_simgrid.hpp"

namespace farandole { inline namespace simulate {
namespace {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

using Route = std::vector<simgrid::kernel::resource::StandardLinkImpl*>;

// SimGrid runs up to a horizon, a power of two, and compares times to 8 units in the last place of that: enough for
// the rounding of `now + (date - now)` and of the bytes left, and nothing more.
constexpr double kFirstHorizon = 0x1p-20;
constexpr double kPrecision = 0x1p-50;
constexpr double kNever = std::numeric_limits<double>::infinity();

// SimGrid takes over Ctrl-C, crashes and std::terminate when the first engine is made; they belong to the program.
struct KeepHandlers {
  KeepHandlers() {
    for (auto& [signal, old] : signals) sigaction(signal, nullptr, &old);
  }
  ~KeepHandlers() {
    for (auto& [signal, old] : signals) sigaction(signal, &old, nullptr);
    std::set_terminate(terminate);
  }
  std::array<std::pair<int, struct sigaction>, 3> signals = {{{SIGINT, {}}, {SIGSEGV, {}}, {SIGBUS, {}}}};
  std::terminate_handler terminate = std::get_terminate();
};

// The signal of SimGrid that a flow has ended. It is private, because callbacks are only ever added; but every engine
// adds one of its own for ever, and all are called at every end. (Explicit instantiations are not subject to access.)
using Completion = simgrid::xbt::signal<void(const s4u::Activity&)>;
Completion& completion();
template <Completion& signal>
struct Opened {
  friend Completion& completion() { return signal; }
};
template struct Opened<s4u::Activity::on_completion>;

// SimGrid offers no way to set its clock back but exports it. Were the symbol missing, the clock would run on, and
// times, which are relative to its start, would lose digits. A module's libraries are not among those of the program.
double* clock_of_simgrid() {
  Dl_info library;
  if (dladdr(reinterpret_cast<void*>(&sg_version_get), &library) == 0) return nullptr;
  void* const simgrid = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return simgrid == nullptr ? nullptr : static_cast<double*>(dlsym(simgrid, "_ZN7simgrid6kernel10EngineImpl4now_E"));
}

void set_clock_back() {
  static auto* const clock = clock_of_simgrid();
  if (clock != nullptr) *clock = 0;
}

using Settings = std::map<std::string, std::string>;

std::unique_ptr<s4u::Engine> make_engine(const Settings& settings) {
  if (s4u::Engine::has_instance()) throw std::logic_error("a process holds one FluidNetwork at a time");
  const KeepHandlers keep;
  set_clock_back();
  std::array<std::string, 3> words = {"farandole", "--log=root.thresh:critical", "--cfg=debug/clean-atexit:no"};
  std::array<char*, 4> argv = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  int argc = 3;
  auto engine = std::make_unique<s4u::Engine>(&argc, argv.data());
  // SimGrid keeps its settings for the whole process and refuses to choose the model twice.
  [[maybe_unused]] static const bool configured = [&] {
    for (const auto& [key, value] : settings) s4u::Engine::set_config(fmt::format("{}:{}", key, value));
    return true;
  }();
  return engine;
}

// All flows go from one host to one other; the route is the one chosen just before the flow is started. No latency.
class RouteZone : public simgrid::kernel::routing::NetZoneImpl {
 public:
  RouteZone() : NetZoneImpl("fluid") {}
  void choose(const Route& route) { route_ = &route; }
  void get_local_route(const simgrid::kernel::routing::NetPoint* /*from*/,
                       const simgrid::kernel::routing::NetPoint* /*to*/, simgrid::kernel::routing::Route* into,
                       double* /*latency*/) override {
    into->link_list_ = *route_;
  }

 private:
  const Route* route_ = nullptr;
};

class Flows final : public SimGridEngine {
 public:
  Flows(std::span<const BytesPerSecond> capacities, Events reported, const std::vector<std::function<double()>>& shares,
        const Settings& settings)
      : engine_(make_engine(settings)),
        events_(std::move(reported)),
        zone_(new RouteZone),  // owned by SimGrid's engine
        source_(zone_->create_host("source", {1.0})),
        target_(zone_->create_host("target", {1.0})),
        origin_(s4u::Engine::get_clock()) {
    for (const BytesPerSecond capacity : capacities) {
      s4u::Link* const link = zone_->create_link(std::to_string(links_.size()), {capacity.si()});
      if (!shares.empty() && shares[links_.size()]) {
        link->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR,
                                 [share = shares[links_.size()]](double all, int /*flows*/) { return all * share(); });
      }
      links_.push_back(link->get_impl());
    }
    s4u::Link* const dead = zone_->create_link("dead", {1.0});
    dead->turn_off();
    dead_link_ = {dead->get_impl()};
    zone_->seal();
    completion().disconnect_slots();
    completion().connect([](const s4u::Activity& activity) {
      auto* slot = activity.get_data<Slot>();
      if (slot != nullptr) slot->flows->complete(*slot, activity.get_finish_time());
    });
    raise_horizon();
  }

  ~Flows() override {
    disarm();
    // A comm that is dropped while it runs prints a backtrace; a cancelled one does not.
    for (Slot& slot : slots_) slot.comm->set_state(s4u::Activity::State::CANCELED);
  }

  int add_route(std::span<const int> links) override {
    Route& route = routes_.emplace_back();
    for (const int link : links) route.push_back(links_[static_cast<std::size_t>(link)]);
    return static_cast<int>(routes_.size()) - 1;
  }

  void send(int route, std::uint64_t size, int tag) override {
    if (idle_.empty()) add_slot();
    Slot& slot = *idle_.back();
    idle_.pop_back();
    slot.tag = tag;
    ++sending_;
    zone_->choose(routes_[static_cast<std::size_t>(route)]);
    slot.comm->set_state(s4u::Activity::State::INITED);
    slot.comm->set_payload_size(size);
    slot.comm->vetoable_start();
    arm();
  }

  void run() override {
    engine_->run();
    if (late_) throw std::logic_error("SimGrid reported the end of a flow too late");
  }

  void restart() override {
    set_clock_back();
    origin_ = s4u::Engine::get_clock();
    horizon_ = kFirstHorizon;
    raise_horizon();
  }

  void set_timer(Seconds date) override {
    wanted_ = std::min(wanted_, date.si());
    arm();
  }
  [[nodiscard]] Seconds clock() const override { return Seconds(s4u::Engine::get_clock() - origin_); }

 private:
  // A place for a flow; its comm serves one flow after the other.
  struct Slot {
    Flows* flows;
    s4u::CommPtr comm;
    int tag;
  };

  // A new comm enters SimGrid's list of direct comms and leaves it at its first end. It ends at once over a dead link.
  void add_slot() {
    Slot& slot = slots_.emplace_back(Slot{this, s4u::Comm::sendto_init(), 0});
    slot.comm->set_data(&slot);
    zone_->choose(dead_link_);
    slot.comm->set_payload_size(1)->set_source(source_)->set_destination(target_);
    idle_.push_back(&slot);
  }

  // A comm may not start again in here, where SimGrid has not finished with it; from the next timer on it may.
  void complete(Slot& slot, double finish_time) {
    --sending_;
    idle_.push_back(&slot);
    late_ |= s4u::Engine::get_clock() - finish_time > 2 * kPrecision * horizon_;
    events_.done(slot.tag);
    if (sending_ == 0 && wanted_ == kNever) disarm();
  }

  void ring() {
    timer_ = nullptr;
    timer_date_ = kNever;
    const double now = s4u::Engine::get_clock();
    if (now >= horizon_) raise_horizon();
    if (now >= origin_ + wanted_) events_.timer(Seconds(std::exchange(wanted_, kNever)));
    arm();
  }

  void raise_horizon() {
    while (horizon_ <= s4u::Engine::get_clock()) horizon_ *= 2;
    s4u::Engine::set_config("surf/precision", horizon_ * kPrecision);
  }

  // SimGrid runs as long as there is a timer, so there is one only while something is under way.
  void arm() {
    if (sending_ == 0 && wanted_ == kNever) return;
    const double date = std::min(horizon_, origin_ + wanted_);
    if (timer_date_ <= date) return;
    disarm();
    timer_date_ = date;
    timer_ = Timer::set(date, [this] { ring(); });
  }

  void disarm() {
    if (timer_ != nullptr) std::exchange(timer_, nullptr)->remove();
    timer_date_ = kNever;
  }

  std::unique_ptr<s4u::Engine> engine_;
  Events events_;
  RouteZone* zone_;  // SimGrid's, which deletes it with the engine
  s4u::Host* source_;
  s4u::Host* target_;
  double origin_;
  Route links_;  // all
  Route dead_link_;
  std::deque<Route> routes_;
  std::deque<Slot> slots_;  // after the engine: comms must go before it
  std::vector<Slot*> idle_;
  int sending_ = 0;
  bool late_ = false;
  double horizon_ = kFirstHorizon;
  double wanted_ = kNever;
  Timer* timer_ = nullptr;  // SimGrid's, at timer_date_
  double timer_date_ = kNever;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) void farandole_make_simgrid_engine(
    std::span<const BytesPerSecond> capacities, SimGridEngine::Events events,
    const std::vector<std::function<double()>>& shares, const Settings& settings,
    std::unique_ptr<SimGridEngine>& made) {
  made = std::make_unique<Flows>(capacities, std::move(events), shares, settings);
}

}}  // namespace farandole::simulate
