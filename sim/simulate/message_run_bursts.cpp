// Links whose rates are those of token buckets, in a run of a message clock.
//
// A bucket holds `burst` bytes at most, which come at the link's rate r. What is sent takes them from every link of its
// way: at once as far as they are there, the rest as they come. So a message of s bytes that finds k of them takes
// latency + (s - k) / r, and n messages one behind the other, with pauses that do not fill the bucket, as long as if
// there were no pauses. Not seen: tokens that come while a flow on the link is held up elsewhere.
#include <algorithm>

#include "simulate/link_loads.hpp"
#include "simulate/message_run.hpp"

namespace farandole { inline namespace simulate {

double MessageClock::Run::tokens_at(int link, double moment) const {
  const auto index = static_cast<std::size_t>(link);
  const Bucket& bucket = buckets_[index];
  if (bucket.flows > 0) return bucket.tokens;
  const double come = (moment - bucket.moment) * clock_.routed_.capacities()[index].si();
  return std::min(clock_.routed_.burst().si(), bucket.tokens + come);
}

Bytes MessageClock::Run::take_burst(int transfer, Bytes bytes) {
  const auto& [phase, position] = clock_.transfers_[static_cast<std::size_t>(transfer)];
  const RoutedSchedule::Leg leg = clock_.routed_.leg(phase, position, completed_[static_cast<std::size_t>(transfer)]);
  double taken = leg.links.empty() ? 0 : bytes.si();
  const double now = network_.now().si();
  for_each_listed(leg.links, [&](int link, int /*times*/) { taken = std::min(taken, tokens_at(link, now)); });
  taken = std::floor(taken);  // messages are whole bytes
  std::vector<int>& limited = limited_[static_cast<std::size_t>(transfer)];
  limited.clear();
  for_each_listed(leg.links, [&](int link, int /*times*/) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(link)];
    bucket = {tokens_at(link, now) - taken, now, bucket.flows};
    if (taken == bytes.si()) return;
    ++bucket.flows;
    limited.push_back(link);
  });
  return Bytes(taken);
}

void MessageClock::Run::leave_links(int transfer) {
  for (const int link : limited_[static_cast<std::size_t>(transfer)]) {
    Bucket& bucket = buckets_[static_cast<std::size_t>(link)];
    --bucket.flows;
    bucket.moment = network_.now().si();
  }
  limited_[static_cast<std::size_t>(transfer)].clear();
}

}}  // namespace farandole::simulate
