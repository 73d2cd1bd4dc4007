#include "simulate/concurrent_messages.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace farandole {

ConcurrentMessages::ConcurrentMessages(const std::vector<RoutedSchedule>& schedules) {
  int parts = 1;
  for (const RoutedSchedule& schedule : schedules) parts = std::lcm(parts, schedule.parts());
  network_ = std::make_shared<FluidNetwork>(schedules.front().fluid_links(), parts);
  for (const RoutedSchedule& schedule : schedules) {
    clocks_.push_back(std::make_unique<MessageClock>(schedule));
    clocks_.back()->use(network_);
  }
}

int ConcurrentMessages::take_tags(int count) {
  if (uses_.empty()) next_tag_ = 0;
  if (count > std::numeric_limits<int>::max() - next_tag_)
    throw std::logic_error("too many collectives without a rest");
  return std::exchange(next_tag_, next_tag_ + count);
}

void ConcurrentMessages::start(int schedule, Bytes size, const RankTimes& start, int tag) {
  if (latest(start) < now()) throw std::logic_error("a collective is never started in the past");
  MessageClock& clock = *clocks_.at(static_cast<std::size_t>(schedule));
  const int first = take_tags(clock.tags());
  auto run = std::make_unique<MessageClock::Run>(clock, size, start.max(now().si()), first);
  run->begin();
  uses_.emplace(first, Use{tag, std::move(run)});
}

void ConcurrentMessages::call_at(Seconds when, int tag) {
  const int first = take_tags(1);
  uses_.emplace(first, Use{tag, nullptr});
  network_->call_at(when, first);
}

void ConcurrentMessages::run(const Done& done) {
  network_->run([&](int tag) {
    const auto use = std::prev(uses_.upper_bound(tag));
    RankTimes ends;
    if (use->second.run != nullptr) {
      use->second.run->handle(tag);
      if (!use->second.run->is_finished()) return;
      ends = use->second.run->ends();
    }
    const int own = use->second.tag;
    uses_.erase(use);
    done(own, ends);
  });
}

}  // namespace farandole
