#include "simulate/shared_streams.hpp"

#include <algorithm>
#include <utility>

namespace farandole {
namespace {

std::vector<RoutedSchedule> values(const std::map<Operation, RoutedSchedule>& schedules) {
  std::vector<RoutedSchedule> result;
  result.reserve(schedules.size());
  for (const auto& [operation, schedule] : schedules) result.push_back(schedule);
  return result;
}

}  // namespace

SharedStreams::SharedStreams(Fidelity fidelity, const std::map<Operation, RoutedSchedule>& schedules, int streams,
                             Seconds launch)
    : clock_(make_concurrent_clock(fidelity, values(schedules))),
      launch_(launch),
      free_(static_cast<std::size_t>(streams), all_at(schedules.begin()->second.schedule().ranks, Seconds(0))),
      busy_(static_cast<std::size_t>(streams), false) {
  for (const auto& [operation, schedule] : schedules) index_.emplace(operation, static_cast<int>(index_.size()));
}

void SharedStreams::enqueue(int number, CommunicationWork work) {
  waiting_.push_back({number, std::move(work), 0, {}});
  start_waiting();
}

void SharedStreams::call_at(Seconds when, int event) {
  clock_->call_at(std::max(when, now()), tag(What::called, event));
}

void SharedStreams::start_waiting() {
  while (!waiting_.empty()) {
    const auto idle = std::ranges::find(busy_, false);
    if (idle == busy_.end()) return;
    *idle = true;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    item.stream = static_cast<std::size_t>(idle - busy_.begin());
    start(std::move(item));
  }
}

void SharedStreams::start(Item item) {
  item.times.begin = item.work.earliest.max(free_[item.stream]);
  item.times.reducing = item.times.begin + item.work.copy_in.si();
  const RankTimes joined = item.times.reducing + launch_.si();
  const int number = item.number;
  const auto [place, is_new] = under_way_.emplace(number, std::move(item));
  const CommunicationWork& work = place->second.work;
  if (work.size == Bytes(0) || joined.size() == 1) return on_reduced(place->second, joined);
  clock_->start(index_.at(work.operation), work.size, joined, tag(What::reduced, number));
}

void SharedStreams::on_reduced(Item& item, const RankTimes& ends) {
  item.times.reduced = ends;
  item.times.end = ends + item.work.copy_out.si();
  clock_->call_at(std::max(latest(item.times.end), now()), tag(What::finished, item.number));
}

void SharedStreams::run(const Listener& listener) {
  clock_->run([&](int what, const RankTimes& ends) {
    const int index = what / 3;
    switch (static_cast<What>(what % 3)) {
      case What::called:
        return listener.called(index);
      case What::reduced:
        return on_reduced(under_way_.at(index), ends);
      case What::finished: {
        const Item item = std::move(under_way_.extract(index).mapped());
        free_[item.stream] = item.times.end;
        busy_[item.stream] = false;
        listener.finished(index, item.times);
        return start_waiting();
      }
    }
  });
}

}  // namespace farandole
