// How much longer a collective takes beside others that repeat without a pause, on links that some of others' traffic
// may be on: found by letting them all run at the same time (simulate/concurrent_clock.hpp), and remembered.
//
// Called by Traffic; made by the composition root, which knows schedules and platforms.
#pragma once

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "simulate/concurrent_clock.hpp"
#include "simulate/traffic.hpp"

namespace farandole {

class Slowdowns {
 public:
  /// A party's schedule on the platform with these sources on.
  using RouteOf = std::function<RoutedSchedule(const Party& party, const std::vector<bool>& sources)>;
  Slowdowns(Fidelity fidelity, RouteOf route_of) : fidelity_(fidelity), route_of_(std::move(route_of)) {}

  double operator()(std::size_t who, const std::vector<Party>& parties, const std::vector<bool>& sources);

 private:
  Seconds time_of(std::size_t who, const std::vector<Party>& parties, const std::vector<bool>& sources);

  Fidelity fidelity_;
  RouteOf route_of_;
  std::map<std::tuple<std::size_t, std::vector<Party>, std::vector<bool>>, Seconds> times_;
};

}  // namespace farandole
