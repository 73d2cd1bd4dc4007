#include "simulate/fluid_network.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <map>
#include <queue>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "simulate/fluid_network_simgrid.hpp"
#include "simulate/max_min_network.hpp"

namespace farandole { inline namespace simulate {
namespace {

std::vector<BytesPerSecond> capacities_of_parts(std::span<const FluidLink> links, int parts) {
  if (parts < 1) throw std::invalid_argument("a route has at least one part");
  std::vector<BytesPerSecond> capacities;
  for (const FluidLink& link : links) {
    const double capacity = link.capacity.si();
    if (!(capacity > 0) || !std::isfinite(capacity)) throw std::invalid_argument("a link has a capacity above zero");
    capacities.push_back(link.capacity * parts);
  }
  return capacities;
}

/// Of every link; nothing where none has a curve.
std::vector<Congestion> congestion_of_links(std::span<const FluidLink> links) {
  std::vector<Congestion> congestion;
  for (const FluidLink& link : links) congestion.push_back(link.congestion);
  if (std::ranges::all_of(congestion, [](const Congestion& c) { return c.curve == nullptr; })) congestion.clear();
  return congestion;
}

class BySimGrid final : public SharedNetwork {
 public:
  BySimGrid(std::span<const FluidLink> links, int parts)
      : links_(links.size()),
        parts_(parts),
        congestion_(congestion_of_links(links)),
        loads_(links.size(), 0),
        simgrid_(make_simgrid_engine(capacities_of_parts(links, parts),
                                     {[this](Seconds date) { begin(date); }, [this](int tag) { end(tag); }},
                                     shares_left())) {}

  int add_route(std::span<const int> links, int paths) override {
    if (links.empty()) throw std::invalid_argument("a route has at least one link");
    for (const int link : links) {
      if (link < 0 || static_cast<std::size_t>(link) >= links_)
        throw std::invalid_argument("a route over no such link");
    }
    if (paths < 1 || parts_ % paths != 0) throw std::invalid_argument("a route split into other parts than these");
    std::vector<int> listed;
    listed.reserve(links.size() * static_cast<std::size_t>(parts_ / paths));
    for (const int link : links) listed.insert(listed.end(), static_cast<std::size_t>(parts_ / paths), link);
    simgrid_->add_route(listed);
    if (!congestion_.empty()) crossings_.push_back(crossings_of(links, paths));
    return routes_++;
  }

  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) override {
    const double bytes = size.si();
    if (!(bytes >= 1) || bytes >= 0x1p63 || bytes != std::floor(bytes)) {
      throw std::invalid_argument("a flow has a whole number of bytes, at least one");
    }
    if (!(latency.si() >= 0) || !std::isfinite(latency.si()))
      throw std::invalid_argument("a latency is never negative");
    if (route < 0 || route >= routes_) throw std::invalid_argument("a flow over no such route");
    wait(when, {(when + latency).si(), 0, static_cast<std::uint64_t>(bytes), route, tag});
  }

  void call_at(Seconds when, int tag) override { wait(when, {when.si(), 0, 0, kNoRoute, tag}); }

  void run(const Done& done) override {
    if (done_ != nullptr) throw std::logic_error("a network is run from its own callback");
    const struct Running {
      const Done*& of;
      ~Running() { of = nullptr; }
    } running{done_};
    done_ = &done;
    simgrid_->run();
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (sending_ != 0 || !pending_.empty()) throw std::logic_error("SimGrid stopped while flows were still sending");
  }

  void restart() override {
    if (done_ != nullptr || sending_ != 0 || !pending_.empty())
      throw std::logic_error("a restart while flows are left");
    simgrid_->restart();
  }

  [[nodiscard]] Seconds now() const override { return simgrid_->clock(); }

 private:
  static constexpr int kNoRoute = -1;

  // A flow that waits for its start or its latency, or a call.
  struct Pending {
    double date;
    std::uint64_t order;
    std::uint64_t size;
    int route;
    int tag;
    bool operator>(const Pending& other) const { return date != other.date ? date > other.date : order > other.order; }
  };

  /// What it adds to the load of a link with a curve.
  struct Crossing {
    std::size_t link;
    double load;
  };

  /// A flow that sends, where links have curves.
  struct Live {
    int route;
    int tag;
  };

  [[nodiscard]] std::vector<std::function<double()>> shares_left() const {
    std::vector<std::function<double()>> shares(congestion_.size());
    for (std::size_t link = 0; link < shares.size(); ++link) {
      if (congestion_[link].curve == nullptr) continue;
      shares[link] = [this, link] { return congestion_[link].left(loads_[link]); };
    }
    return shares;
  }

  [[nodiscard]] std::vector<Crossing> crossings_of(std::span<const int> links, int paths) const {
    std::map<std::size_t, double> loads;
    for (const int link : links) {
      const auto index = static_cast<std::size_t>(link);
      if (congestion_[index].curve != nullptr) loads[index] += 1.0 / paths;
    }
    std::vector<Crossing> crossings;
    for (const auto& [link, load] : loads) crossings.push_back({link, load});
    return crossings;
  }

  /// Its place among the live ones.
  int enter(Live flow) {
    for (const Crossing& crossing : crossings_[static_cast<std::size_t>(flow.route)]) {
      loads_[crossing.link] += crossing.load;
    }
    return live_.keep(flow);
  }

  /// Its tag.
  int leave(int place) {
    const Live flow = live_.take(place);
    for (const Crossing& crossing : crossings_[static_cast<std::size_t>(flow.route)]) {
      double& load = loads_[crossing.link];
      load = std::max(0.0, load - crossing.load);
    }
    return flow.tag;
  }

  void wait(Seconds when, Pending pending) {
    if (!(when >= now()) || !std::isfinite(when.si())) throw std::logic_error("a flow or call is never in the past");
    pending.order = order_++;
    pending_.push(pending);
    simgrid_->set_timer(Seconds(pending.date));
  }

  void begin(Seconds date) {
    while (!pending_.empty() && pending_.top().date <= date.si()) {
      const Pending next = pending_.top();
      pending_.pop();
      if (next.route == kNoRoute) {
        report(next.tag);
      } else {
        ++sending_;
        simgrid_->send(next.route, next.size, congestion_.empty() ? next.tag : enter({next.route, next.tag}));
      }
    }
    if (!pending_.empty()) simgrid_->set_timer(Seconds(pending_.top().date));
  }

  void end(int tag) {
    --sending_;
    report(congestion_.empty() ? tag : leave(tag));
  }

  // An exception may not pass through SimGrid: what is under way ends in silence, then run() throws.
  void report(int tag) {
    if (thrown_) return;
    try {
      (*done_)(tag);
    } catch (...) {
      thrown_ = std::current_exception();
      pending_ = {};
    }
  }

  std::size_t links_;
  int parts_;
  int routes_ = 0;
  std::vector<Congestion> congestion_;            // by link; empty where none has any
  std::vector<double> loads_;                     // by link, of those with a curve
  std::vector<std::vector<Crossing>> crossings_;  // by route
  Recycled<Live> live_;
  std::unique_ptr<SimGridEngine> simgrid_;
  std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
  std::uint64_t order_ = 0;
  int sending_ = 0;
  const Done* done_ = nullptr;
  std::exception_ptr thrown_;
};

}  // namespace

FluidNetwork::FluidNetwork(std::span<const FluidLink> links, int parts, NetworkSolver solver) {
  if (solver_for(solver, 0) == NetworkSolver::simgrid) {
    network_ = std::make_unique<BySimGrid>(links, parts);
    return;
  }
  network_ = std::make_unique<MaxMinNetwork>();
  for (const FluidLink& link : links) network_->add_link(link.capacity, link.congestion);
}

NetworkSolver solver_for(NetworkSolver wanted, std::int64_t messages, std::int64_t at_once, std::int64_t links) {
  if (wanted != NetworkSolver::as_it_pays) return wanted;
  const bool is_ours = !has_simgrid() || messages > most_for_simgrid || at_once > most_at_once_for_simgrid ||
                       links > most_links_for_simgrid;
  return is_ours ? NetworkSolver::own : NetworkSolver::simgrid;
}

std::map<std::string, std::string> network_settings(NetworkSolver wanted) {
  if (solver_for(wanted, 0) == NetworkSolver::own) return {{"network", "own"}};
  std::map<std::string, std::string> settings;
  for (const auto& [name, value] : simgrid_settings()) settings["simgrid." + name] = value;
  if (wanted == NetworkSolver::simgrid) settings["network"] = "simgrid";
  return settings;
}

std::string describe_own_network() {
  return fmt::format(
      "built-in network solver used (over {} messages, {} at once, or {} links); results agree with SimGrid's to "
      "rounding; --network simgrid forces SimGrid",
      most_for_simgrid, most_at_once_for_simgrid, most_links_for_simgrid);
}

}}  // namespace farandole::simulate
