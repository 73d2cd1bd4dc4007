#include "training/strategies/negotiation.hpp"

namespace farandole { inline namespace training {
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
