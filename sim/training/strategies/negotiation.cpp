#include "training/strategies/negotiation.hpp"

#include <bit>

namespace farandole { inline namespace training {
namespace {

struct Depth {
  double others;  // ranks but rank 0
  double tree;    // ceil(log2 n)
};

/// Messages one after another that carry requests and responses, and how many of them rank 0 receives by itself.
struct Messages {
  double deep;
  double received;
};

Messages messages_of(Negotiation way, const Depth& depth, int uncached) {
  switch (way) {
    case Negotiation::point_to_point:
      return {1, depth.others * (uncached + 1)};
    case Negotiation::gathered:
      return {3 * depth.tree + 1, depth.others};
    case Negotiation::gloo_allgather:
      return {2 * depth.others + 2 * depth.tree, 0};
    case Negotiation::gloo_gather:
      return {2 + 2 * depth.tree, 2 * depth.others};
  }
  return {};
}

}  // namespace

Seconds negotiation_time(Negotiation way, const ControlPlane& control, const Negotiated& what) {
  const Depth depth{what.ranks - 1.0, static_cast<double>(std::bit_width(static_cast<unsigned>(what.ranks - 1)))};
  const double around = is_by_gloo(way) ? depth.others : depth.tree;
  const Seconds bits = what.has_cache ? control.latency * (2 * around) : Seconds(0);
  if (what.has_cache && what.uncached == 0) return bits;
  const Messages messages = messages_of(way, depth, what.uncached);
  return bits + control.latency * messages.deep + control.received * messages.received +
         control.request * (static_cast<double>(what.ranks) * what.uncached);
}

Seconds telling_time(Negotiation way, const ControlPlane& control, int ranks) {
  if (way != Negotiation::point_to_point) return Seconds(0);
  return control.sent * (ranks - 1.0) + control.latency;
}

namespace {

constexpr const char* per_request = "rank 0's work on a request of one rank";
constexpr const char* per_received = "a message that rank 0 receives";
constexpr const char* per_sent = "a message that rank 0 sends";

}  // namespace

UncertainSetting CoordinatorCost::as_setting() const {
  return {std::string("/strategy/") + setting, what, least, used, most, "tests/training/coordinator_costs.json"};
}

const CoordinatorCost& coordinator_request() {
  static const CoordinatorCost cost{"coordinator_per_message", per_request, Seconds(0.253e-6), Seconds(0.38e-6),
                                    Seconds(0.545e-6)};
  return cost;
}

const CoordinatorCosts& coordinator_past_the_kernel() {
  static const CoordinatorCosts costs{
      {"coordinator_receives", per_received, Seconds(0.339e-6), Seconds(0.53e-6), Seconds(0.635e-6)},
      {"coordinator_sends", per_sent, Seconds(0.246e-6), Seconds(0.98e-6), Seconds(1.854e-6)}};
  return costs;
}

const CoordinatorCosts& coordinator_over_tcp() {
  static const CoordinatorCosts costs{
      {"coordinator_receives", per_received, Seconds(3.034e-6), Seconds(6.1e-6), Seconds(7.294e-6)},
      {"coordinator_sends", per_sent, Seconds(5.633e-6), Seconds(6.8e-6), Seconds(8.269e-6)}};
  return costs;
}

}}  // namespace farandole::training
