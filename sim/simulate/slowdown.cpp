#include "simulate/slowdown.hpp"

#include <algorithm>

namespace farandole {

double Slowdowns::operator()(std::size_t who, const std::vector<Party>& parties, const std::vector<bool>& sources) {
  const std::vector<bool> none(sources.size(), false);
  if (parties.size() == 1 && sources == none) return 1;
  const Seconds alone = time_of(0, {parties[who]}, none);
  if (alone <= Seconds(0)) return 1;
  return std::max(1.0, time_of(who, parties, sources) / alone);
}

Seconds Slowdowns::time_of(std::size_t who, const std::vector<Party>& parties, const std::vector<bool>& sources) {
  const auto [place, is_new] = times_.try_emplace({who, parties, sources});
  if (!is_new) return place->second;
  std::vector<RoutedSchedule> schedules;
  schedules.reserve(parties.size());
  for (const Party& party : parties) schedules.push_back(route_of_(party, sources));
  std::vector<int> ranks;
  ranks.reserve(parties.size());
  for (const RoutedSchedule& schedule : schedules) ranks.push_back(schedule.schedule().ranks);
  const auto clock = make_concurrent_clock(fidelity_, std::move(schedules));
  const auto start = [&](std::size_t party) {
    clock->start(static_cast<int>(party), parties[party].size, all_at(ranks[party], clock->now()),
                 static_cast<int>(party));
  };
  for (std::size_t party = 0; party < parties.size(); ++party) start(party);
  Seconds end;
  bool is_over = false;
  clock->run([&](int tag, const RankTimes& ends) {
    if (is_over) return;
    const auto party = static_cast<std::size_t>(tag);
    is_over = party == who;
    is_over ? static_cast<void>(end = latest(ends)) : start(party);
  });
  return place->second = end;
}

}  // namespace farandole
