// How a run of a message clock keeps the processors of its ranks busy (simulate/recurrence.hpp has the rule).
#include <algorithm>

#include "simulate/message_run.hpp"

namespace farandole { inline namespace simulate {

std::vector<MessageClock::Run::Posting> MessageClock::Run::posted(const std::vector<int>& sends, Progress& at) const {
  const Phase& phase = schedule_.phases[at.phase];
  std::vector<Posting> postings;
  for (const int transfer : sends) {
    if (!takes_part(phase, clock_.pattern(transfer), at.repeat)) continue;
    postings.push_back({transfer, at.reduced});
    if (occupied_) at.reduced += kept(transfer, at.repeat).send;
  }
  return postings;
}

MessageClock::Run::Kept MessageClock::Run::kept(int transfer, int repeat) const {
  const auto& [number, position] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  const Phase& phase = schedule_.phases[number];
  const auto& first = clock_.routed_.legs(number)[position];
  const bool moves = repeat > 0 && receivers_move(phase);
  const Occupancy each = moves ? clock_.routed_.leg(number, position, repeat).occupancy : first.occupancy;
  const Transfer placed = clock_.placed(transfer, repeat);
  const Bytes bytes = chunks_.of(schedule_, phase, placed);
  double messages = bytes > Bytes(0) ? 1 : 0;
  if (phase.one_by_one) messages = static_cast<double>(chunks_.messages(schedule_, phase, placed).size());
  const Seconds copying = messages > 0 ? clock_.routed_.message_cost().copying(bytes / messages) : Seconds(0);
  const double receive = messages * (each.receive + copying).si();
  return {messages * (each.send + copying).si(), receive, (first.alike - 1) * receive};
}

void MessageClock::Run::receive(Progress& at, int transfer, int repeat) {
  const double now = network_.now().si();
  if (occupied_) {
    const Kept own = kept(transfer, repeat);
    at.reduced = std::max(at.reduced + own.receive, now) + own.behind;
  }
  at.reduced = std::max(at.reduced, now) + time_to_reduce(transfer, repeat).si();
}

}}  // namespace farandole::simulate
