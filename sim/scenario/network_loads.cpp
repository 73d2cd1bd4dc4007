#include "scenario/network_loads.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace farandole::inline scenario {

std::vector<LinkUse> NetworkLoads::busiest(std::size_t count) const {
  std::vector<LinkUse> uses;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const Link& link = platform.links[i];
    if (bytes[i] > Bytes(0)) uses.push_back({link.name, bytes[i], link.capacity, utilisation[i]});
  }
  std::ranges::stable_sort(uses, std::greater{}, &LinkUse::utilisation);
  if (uses.size() > count) uses.resize(count);
  return uses;
}

NetworkLoads loads_over(Platform platform, std::vector<Bytes> bytes, Seconds time) {
  const std::size_t links = platform.links.size();
  bytes.resize(links);
  std::vector<double> utilisation(links);
  for (std::size_t i = 0; i < links; ++i) {
    if (bytes[i] > Bytes(0)) utilisation[i] = bytes[i] / (platform.links[i].capacity * time);
  }
  return {std::move(platform), std::move(bytes), std::move(utilisation)};
}

}  // namespace farandole::inline scenario
