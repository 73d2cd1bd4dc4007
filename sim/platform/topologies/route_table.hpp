// A network of which nothing is known but the way of every pair of hosts: what a SimGrid platform file lists.
//
// Made by topologies/read_simgrid.cpp. Host i is node i. A link stands for itself: where a file says that both
// directions of a cable share it, the ways there and back name the same one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

struct RouteTable {
  std::vector<std::string> hosts;
  std::vector<Link> links;
  std::vector<Path> ways;  // [from * hosts + to]; links by their place above

  [[nodiscard]] Path& way(std::size_t from, std::size_t to) { return ways[from * hosts.size() + to]; }
};

NetworkPlan plan_of(RouteTable table);

/// A platform file of SimGrid (https://simgrid.org/doc/latest/XML_reference.html) with one zone of hosts, routers,
/// links and routes; `routing` Full, where every pair has its own, or Floyd, Dijkstra and DijkstraCache, where routes
/// are the edges of a graph and ways have the fewest links. Links of the policies SHARED and SPLITDUPLEX. All else is
/// refused, with its line. `source` is the file's name, for errors.
RouteTable parse_simgrid(std::string_view text, const std::string& source);

}}  // namespace farandole::platform
