#include "scenario/network_loads.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace farandole { inline namespace scenario {

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

namespace {

/// What spreads over a bundle is on its members, too, beside what goes over each of them alone.
void add_to_members(const Network& network, std::vector<Bytes>& bytes) {
  const auto at = [&](int link) -> Bytes& { return bytes[static_cast<std::size_t>(link)]; };
  for (const Bundle& bundle : network.bundles) {
    if (!bundle.carries || bundle.members.empty()) continue;
    Bytes alone;
    for (const int member : bundle.members) alone += bundle.counts_members ? at(member) : Bytes(0);
    const Bytes each = (at(bundle.link) - alone) * (bundle.hops / static_cast<double>(bundle.members.size()));
    for (const int member : bundle.members) at(member) += each;
  }
}

}  // namespace

NetworkLoads loads_over(Platform platform, std::vector<Bytes> bytes, Seconds time) {
  const std::size_t links = platform.links.size();
  bytes.resize(links);
  add_to_members(platform.network, bytes);
  std::vector<double> utilisation(links);
  for (std::size_t i = 0; i < links; ++i) {
    if (bytes[i] > Bytes(0)) utilisation[i] = bytes[i] / (platform.links[i].capacity * time);
  }
  return {std::move(platform), std::move(bytes), std::move(utilisation)};
}

}}  // namespace farandole::scenario
