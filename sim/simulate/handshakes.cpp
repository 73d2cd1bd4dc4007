#include <algorithm>
#include <map>
#include <utility>

#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// A long message between nodes.
struct Long {
  Eigen::Index transfer;
  int from;
  int to;
  Seconds sending;
  Seconds latency;
};

}  // namespace

void wait_in_line(const RoutedSchedule& routed, const Round& round, const std::vector<Bytes>& bytes,
                  TransferCosts& costs) {
  const Bytes ahead = routed.handshakes()->ahead;
  std::vector<Long> messages;
  std::map<std::pair<int, int>, Seconds> between;  // by sender and receiver
  std::map<int, Seconds> before_others;            // by sender: what its answers to others wait for
  for_each_transfer(routed.schedule(), routed.schedule().phases[round.phase], round.repeat, round.transfers,
                    [&](const Transfer& transfer, std::size_t place) {
                      const auto t = static_cast<Eigen::Index>(place);
                      const RoutedSchedule::Leg leg = routed.leg(round.phase, round.transfers[place], round.repeat);
                      if (bytes[place] == Bytes(0) || !costs.waits[t] || !leg.between_nodes) return;
                      const Seconds sending(costs.sending[t]);
                      messages.push_back({t, transfer.from, transfer.to, sending, leg.latency});
                      between[{transfer.from, transfer.to}] += sending;
                      before_others[transfer.from] += std::min(ahead, bytes[place] / 2) / leg.narrowest;
                    });
  for (const Long& message : messages) {
    const auto back = between.find({message.to, message.from});
    const auto others = before_others.find(message.to);
    Seconds wait = message.latency * 2;
    if (back != between.end()) {
      wait += back->second;
    } else if (others != before_others.end()) {
      wait += others->second;
    }
    costs.sending[message.transfer] += wait.si();
  }
}

}}  // namespace farandole::simulate
