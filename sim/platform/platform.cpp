#include "platform/platform.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "config/named.hpp"
#include "config/section.hpp"
#include "platform/mpi_transport.hpp"
#include "platform/sections.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Through one NIC of each node.
Paths through(const Platform& platform, int from_device, int from_nic, int to_device, int to_nic, const Paths& across) {
  const int each = platform.devices_per_node;
  return end_to_end(platform.node.way_out(from_device % each, from_nic),
                    platform.link_of(platform.node_of(from_device), 0), across,
                    platform.node.way_in(to_nic, to_device % each), platform.link_of(platform.node_of(to_device), 0));
}

using Across = std::function<const Paths&(int from_nic, int to_nic)>;

Paths between_nodes(const Platform& platform, int from, int to, const Across& across) {
  const auto nics = static_cast<int>(platform.node.nics.size());
  const int first_from = platform.node_of(from) * nics;
  const int first_to = platform.node_of(to) * nics;
  const auto& senders = platform.node.nics_of_device[static_cast<std::size_t>(from % platform.devices_per_node)];
  const auto& own = platform.node.nics_of_device[static_cast<std::size_t>(to % platform.devices_per_node)];
  const auto& receivers = platform.network.rails_apart ? senders : own;
  const auto by = [&](int sender, int receiver) {
    return through(platform, from, sender, to, receiver, across(first_from + sender, first_to + receiver));
  };
  if (senders.size() == 1 && receivers.size() == 1) return by(senders.front(), receivers.front());
  std::vector<Paths> ways;
  const std::size_t pairs = std::lcm(senders.size(), receivers.size());
  ways.reserve(pairs);
  for (std::size_t i = 0; i < pairs; ++i)
    ways.push_back(by(senders[i % senders.size()], receivers[i % receivers.size()]));
  return side_by_side(ways);
}

Paths between_nodes(const Platform& platform, int from, int to) {
  Paths found;
  return between_nodes(platform, from, to, [&](int from_nic, int to_nic) -> const Paths& {
    return found = platform.network.paths(from_nic, to_nic);
  });
}

/// Whether acknowledgements are worth the length of the route they make.
bool counts_acknowledgements(const Platform& platform) {
  constexpr double least = 0.01;
  return platform.ack_overhead >= least;
}

/// Acknowledgements as a share of what is sent that goes back the way it came: with `ack_overhead` = 1/k, every path k
/// times and the opposite direction once.
void add_acknowledgements(const Platform& platform, const Paths& back, Route& route) {
  const auto times = static_cast<std::size_t>(std::lround(1 / platform.ack_overhead));
  const std::vector<int> forward = route.links;
  route.links.reserve(forward.size() * (times + 1));
  for (std::size_t i = 1; i < times; ++i) route.links.insert(route.links.end(), forward.begin(), forward.end());
  for (const Path& path : back) route.links.insert(route.links.end(), path.begin(), path.end());
  route.paths *= static_cast<int>(times);
}

Paths within_node(const Platform& platform, int from, int to) {
  const int each = platform.devices_per_node;
  return shifted(platform.node.way(from % each, to % each), platform.link_of(platform.node_of(from), 0));
}

/// Without latency.
Route laid_out(const Paths& paths) {
  Route route;
  route.paths = static_cast<int>(paths.size());
  if (!paths.empty()) route.links.reserve(paths.size() * paths.front().size());
  for (const Path& path : paths) route.links.insert(route.links.end(), path.begin(), path.end());
  return route;
}

}  // namespace

Route RouteChoice::split(int minimal_parts) const {
  if (other.paths == 0 || minimal_parts == choice_parts) return minimal;
  if (minimal_parts == 0) return other;
  const int all = std::lcm(minimal.paths, other.paths);
  int of_minimal = minimal_parts * (all / minimal.paths);
  int of_other = (choice_parts - minimal_parts) * (all / other.paths);
  const int common = std::gcd(of_minimal, of_other);
  of_minimal /= common;
  of_other /= common;
  Route route;
  route.paths = of_minimal * minimal.paths + of_other * other.paths;
  route.links.reserve(minimal.links.size() * static_cast<std::size_t>(of_minimal) +
                      other.links.size() * static_cast<std::size_t>(of_other));
  for (int i = 0; i < of_minimal; ++i) {
    route.links.insert(route.links.end(), minimal.links.begin(), minimal.links.end());
  }
  for (int i = 0; i < of_other; ++i) route.links.insert(route.links.end(), other.links.begin(), other.links.end());
  const double share = static_cast<double>(minimal_parts) / choice_parts;
  route.latency = minimal.latency * share + other.latency * (1 - share);
  return route;
}

bool Platform::has_plain_links() const {
  return flow_rate == BytesPerSecond::infinity() &&
         std::ranges::all_of(links, [](const Link& link) { return link.congestion == nullptr; });
}

RouteChoice Platform::choices(int from_device, int to_device) const {
  if (node_of(from_device) == node_of(to_device) || !network.choice) return {route(from_device, to_device)};
  const auto routed = [&](int from, int to, Paths WayChoice::*kind) {
    WayChoice found;
    const Paths paths = between_nodes(*this, from, to, [&](int from_nic, int to_nic) -> const Paths& {
      found = network.choice(from_nic, to_nic);
      return found.*kind;
    });
    Route route = laid_out(paths);
    if (!paths.empty()) route.latency = mean_latency(*this, route) + transport.inter_node_latency;
    return route;
  };
  RouteChoice choice{routed(from_device, to_device, &WayChoice::minimal),
                     routed(from_device, to_device, &WayChoice::other)};
  if (counts_acknowledgements(*this)) {
    add_acknowledgements(*this, {routed(to_device, from_device, &WayChoice::minimal).links}, choice.minimal);
    const Route back = routed(to_device, from_device, &WayChoice::other);
    if (choice.other.paths > 0) add_acknowledgements(*this, {back.links}, choice.other);
  }
  return choice;
}

Seconds mean_latency(const Platform& platform, const Route& route) {
  const auto& bundles = platform.network.bundles;
  const auto is_in_bundle = [&](int link) {
    return !bundles.empty() && link >= platform.first_network_link() && link < bundles.front().link;
  };
  Seconds sum;
  for (const int link : route.links) {
    if (!is_in_bundle(link)) sum += platform.links[static_cast<std::size_t>(link)].latency;
  }
  return sum / route.paths;
}

void add_up_bundles(Platform& platform) {
  for (const Bundle& bundle : platform.network.bundles) {
    if (bundle.members.empty()) continue;  // no way is left over it
    BytesPerSecond sum;
    for (const int member : bundle.members) sum += platform.links[static_cast<std::size_t>(member)].capacity;
    platform.links[static_cast<std::size_t>(bundle.link)].capacity = sum / bundle.hops;
  }
}

Route Platform::route(int from_device, int to_device) const {
  if (from_device == to_device) return {};
  const bool same_node = node_of(from_device) == node_of(to_device);
  if (!same_node && network.choice) return choices(from_device, to_device).split(network.minimal_parts);
  Route route =
      laid_out(same_node ? within_node(*this, from_device, to_device) : between_nodes(*this, from_device, to_device));
  route.latency =
      mean_latency(*this, route) + (same_node ? transport.intra_node_latency : transport.inter_node_latency);
  if (!same_node && counts_acknowledgements(*this))
    add_acknowledgements(*this, between_nodes(*this, to_device, from_device), route);
  return route;
}

namespace {

LibraryPiece read_piece(const Value& value) {
  Section section = sourced(value);
  constexpr std::array algorithms{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree"};
  constexpr std::array protocols{"LL", "LL128", "Simple"};
  LibraryPiece piece;
  piece.from = section.required<Bytes>("from");
  piece.algorithm = read_named(section.child("algorithm"), "an algorithm of NCCL", algorithms);
  piece.protocol = read_named(section.child("protocol"), "a protocol of NCCL", protocols);
  piece.latency = section.required<Seconds>("latency");
  piece.rate = section.above_zero<BytesPerSecond>("rate");
  section.finish();
  return piece;
}

MeasuredLinks read_measured_links(const Value& value) {
  Section section = sourced(value);
  MeasuredLinks links;
  if (const auto nvlinks = section.maybe("nvlinks")) links.nvlinks = read_at_least(*nvlinks, 1);
  if (const auto nics = section.maybe("nics")) {
    links.nics = read_at_least(*nics, 1);
    links.nic = section.above_zero<BytesPerSecond>("nic");
  }
  const auto pci = section.maybe("pci");
  if (pci) links.pci = read_above_zero<BytesPerSecond>(*pci);
  if (!pci && links.nvlinks == 0 && links.nics == 0) value.fail("\"nvlinks\", \"pci\" or \"nics\"");
  section.finish();
  return links;
}

LibraryTimes read_times(const Value& value) {
  Section section = sourced(value);
  LibraryTimes times;
  times.library = library_name(section.required<std::string>("library"));
  times.operation = read_operation(section.child("op"));
  times.ranks = read_at_least(section.child("ranks"), 2);
  const Value nodes = section.child("nodes");
  times.nodes = read_at_least(nodes, 1);
  if (const auto driven = section.maybe("devices_per_process"))
    times.devices_per_process = read_between(*driven, 1, times.ranks);
  times.table = section.optional<std::string>("table", "");
  if (const auto links = section.maybe("links")) times.links = read_measured_links(*links);
  if (times.nodes > times.ranks) nodes.fail("at most as many nodes as ranks");
  const Value pieces = section.child("pieces");
  for (const Value& element : pieces.elements()) {
    const LibraryPiece piece = read_piece(element);
    const bool is_first = times.pieces.empty();
    if (is_first && piece.from > Bytes(0)) element.fail("a first piece from 0 B on");
    if (!is_first && piece.from <= times.pieces.back().from) element.fail("pieces in order of size");
    times.pieces.push_back(piece);
  }
  if (times.pieces.empty()) pieces.fail("at least one piece");
  section.finish();
  return times;
}

}  // namespace

const LibraryPiece& LibraryTimes::piece_of(Bytes size) const {
  std::size_t found = 0;
  while (found + 1 < pieces.size() && pieces[found + 1].from <= size) ++found;
  return pieces[found];
}

std::vector<LibraryTimes> read_library_times(const Value& list) {
  std::vector<LibraryTimes> all;
  for (const Value& element : list.elements()) all.push_back(read_times(element));
  return all;
}

}}  // namespace farandole::platform
