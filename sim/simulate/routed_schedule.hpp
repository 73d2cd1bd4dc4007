// A schedule mapped to a platform: every transfer with the links it crosses and the latency it pays.
//
// Where one connection has a limit of its own (Platform::flow_rate), every pair of ranks on different nodes has one
// more link of that rate, which only its transfers cross; where receivers move on, every sender of the pattern has one.
//
// All fidelities time this value. Building is O(transfers of all phases x links per route); nothing is held per repeat:
// where receivers move on from repeat to repeat (a shift alltoall), the legs of later ones are worked out when asked
// for. So are all legs, phase by phase, where there are many more transfers than the platform has links: folding by
// moves (simulate/folding/moves.hpp) asks for few of them. Copies share schedule and legs; not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collective/schedule.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/fluid_network.hpp"

namespace farandole { inline namespace simulate {

/// Numbers of ranks, links and transfers are signed: where one of that number stands in a list.
constexpr std::size_t as_index(std::ptrdiff_t number) {
  return static_cast<std::size_t>(number);
}

class RoutedSchedule {
 public:
  enum class Routing : std::uint8_t { as_it_pays, when_asked };
  RoutedSchedule(Schedule schedule, const Platform& platform, const Placement& placement,
                 Routing routing = Routing::as_it_pays);

  struct Leg {
    std::vector<int> links;
    Seconds latency;
    BytesPerSecond narrowest;  // what it gets where nothing else is sent: the least capacity * paths / times listed
    int paths = 1;             // as in Route: a transfer of rate r takes r * times listed / paths of a link
    BytesPerSecond reduce_rate = BytesPerSecond::infinity();  // at which the receiver reduces it; infinite: at no cost
    Occupancy occupancy{};                                    // of its ends, by each of its messages
    int alike = 1;               // transfers like it that its receiver has at the same moment (folded networks)
    bool between_nodes = false;  // unknown of legs that were made from parts
  };

  using LaterLeg = std::function<Leg(std::size_t phase, std::size_t index, int repeat)>;
  /// From its parts: legs per phase and transfer, the capacities of the links they name, and where receivers move a
  /// function that knows the legs of later repeats.
  RoutedSchedule(Schedule schedule, std::vector<std::vector<Leg>> legs, std::vector<BytesPerSecond> capacities,
                 MessageCost message_cost = {}, LaterLeg later = {})
      : schedule_(std::make_shared<const Schedule>(std::move(schedule))),
        legs_(std::make_shared<Legs>(std::move(legs))),
        capacities_(std::move(capacities)),
        message_cost_(message_cost),
        later_(std::move(later)) {}

  [[nodiscard]] const Schedule& schedule() const { return *schedule_; }
  /// The legs of a phase's first repeat, in the order of for_each_transfer's index.
  [[nodiscard]] const std::vector<Leg>& legs(std::size_t phase) const;
  /// Whether legs are worked out when they are first asked for: all of a phase, by `leg` only one.
  [[nodiscard]] bool is_routed_when_asked() const { return when_asked_; }
  /// The leg of a transfer in any repeat.
  [[nodiscard]] Leg leg(std::size_t phase, std::size_t index, int repeat) const;
  [[nodiscard]] std::span<const BytesPerSecond> capacities() const { return capacities_; }
  /// By link; empty where no link has a curve.
  [[nodiscard]] const std::vector<Congestion>& congestion() const { return congestion_; }
  /// For schedules that were made from parts: of every link.
  void congest(std::vector<Congestion> congestion) { congestion_ = std::move(congestion); }
  /// How many times less than its schedule says is on a link, since switches add it up; null, 0: as much as that.
  [[nodiscard]] const std::vector<double>* added_in_switches() const { return added_in_switches_.get(); }
  void add_in_switches(std::shared_ptr<const std::vector<double>> times) { added_in_switches_ = std::move(times); }
  /// Forgets links that can never be full, which slow nobody down: where packets choose their ways, and of networks
  /// that are known to be like that altogether, all. For those who want times alone, and have the network for
  /// themselves.
  void forget_idle_links();
  /// Likewise those that no leg crosses, where few of a large machine's are crossed, and numbers these anew.
  void forget_uncrossed_links();
  /// Likewise the whole network, of what is sent to all at once (simulate/way_choice.hpp).
  void forget_network_of_even_exchange();
  /// Leaves it this share of every link, because others alike are on it too.
  void share_links(const std::vector<double>& shares);
  /// Its links as SimGrid is to have them.
  [[nodiscard]] std::vector<FluidLink> fluid_links() const;
  /// Whether a rank leaves a round when what it receives is there, with what it sends still under way.
  [[nodiscard]] bool eager_sends() const { return eager_sends_; }
  /// What one of them sends ahead of those that the same rank posts behind it.
  [[nodiscard]] Bytes send_window() const { return send_window_; }
  /// Of them: what an idle link lets through at once.
  [[nodiscard]] Bytes burst() const { return burst_; }
  /// The least number of equal parts that every leg's paths divide; O(legs of all repeats).
  [[nodiscard]] int parts() const;
  /// What it was mapped to; null for what was made from parts, and where legs are known and receivers have no steps.
  [[nodiscard]] const std::pair<Platform, Placement>* where() const { return where_.get(); }
  /// Whether messages keep processors busy: of legs in any repeat, or as the first ones say.
  [[nodiscard]] bool has_occupancy() const;
  /// How those of long messages between nodes wait; none where they do not, or where no message is long.
  [[nodiscard]] const std::optional<Handshakes>& handshakes() const { return handshakes_; }
  /// Beside its leg's latency.
  [[nodiscard]] const MessageCost& message_cost() const { return message_cost_; }

 private:
  [[nodiscard]] Leg over(Route route, const Platform& platform, const Placement& placement, const Transfer& transfer,
                         int connection) const;
  void find_bundles_for_all_legs();
  void take_network_for_a_switch();
  void leave_out_idle(std::vector<int>& links) const;
  void add_connections(const Platform& platform);
  [[nodiscard]] std::vector<Leg> legs_of(std::size_t phase, std::optional<int> repeat, const Platform& platform,
                                         const Placement& placement) const;
  [[nodiscard]] const std::vector<Leg>& later_legs_of(std::size_t phase, int repeat) const;
  void know_all_legs();
  [[nodiscard]] int connection(std::size_t phase, std::size_t index) const {
    return connections_.empty() ? -1 : connections_[phase][index];
  }

  using Legs = std::vector<std::vector<Leg>>;
  std::shared_ptr<const Schedule> schedule_;
  std::shared_ptr<Legs> legs_;              // of a phase empty where they have not been asked for
  std::vector<BytesPerSecond> capacities_;  // per link of the platform, then per connection that is limited
  std::vector<Congestion> congestion_;
  std::shared_ptr<const std::vector<double>> added_in_switches_;
  /// Per phase and transfer the link that stands for its connection's limit, -1 within a node; empty where there is
  /// none.
  std::vector<std::vector<int>> connections_;
  MessageCost message_cost_;
  std::optional<Handshakes> handshakes_;
  std::shared_ptr<const std::pair<Platform, Placement>> where_;  // kept only where it will be asked
  LaterLeg later_;
  // By phase and repeat, where packets choose their ways by what all transfers of it send; null where they do not.
  using LaterLegs = std::map<std::pair<std::size_t, int>, std::vector<Leg>>;
  std::shared_ptr<LaterLegs> later_legs_;
  std::vector<bool> idle_;  // by link; empty: none is forgotten
  bool when_asked_ = false;
  bool eager_sends_ = false;
  Bytes send_window_;
  Bytes burst_;
};

/// Whether the receivers of a phase change from one repeat to the next.
bool receivers_move(const Phase& phase);

/// As if every transfer had its way for itself, so that the difference is what contention costs: every leg on links of
/// its own with the same capacities; nothing where receivers move from repeat to repeat, whose legs are not all known
/// beforehand.
std::optional<RoutedSchedule> uncontended(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
