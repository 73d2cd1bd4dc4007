// Networks of every kind drawn at random, as texts of topology files, and what must hold on all of them.
#pragma once

#include <map>
#include <ostream>
#include <random>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "platform/samples.hpp"

namespace farandole {

using Random = std::mt19937_64;

inline int draw(Random& random, int first, int last) {
  return std::uniform_int_distribution<int>(first, last)(random);
}

inline std::string link_of_rate(int rate) {
  return fmt::format(R"({{"rate": "{} GB/s", "latency": "1 us"}})", rate);
}

/// A file of single-device nodes on NICs of `nic` GB/s.
inline std::string network_file(const std::string& kind, const std::string& nodes, int nic,
                                const std::string& network) {
  return fmt::format(
      R"({{"name": "n", "summary": "s", "kind": "{}", "nodes": {}, "node": {{"device": "d", "nic": {}}}, "network": {}}})",
      kind, nodes, link_of_rate(nic), network);
}

inline std::string draw_routing(Random& random, const std::vector<std::string>& names) {
  return names[static_cast<std::size_t>(draw(random, 0, static_cast<int>(names.size()) - 1))];
}

inline std::string draw_star(Random& random, int most) {
  return network_file("star", std::to_string(draw(random, 2, most)), draw(random, 1, 3), "{}");
}

inline std::string draw_leaf_spine(Random& random, int most) {
  const auto network = fmt::format(
      R"({{"nodes_per_leaf": {}, "spines": {}, "cables_per_spine": {}, "link": {}, "routing": "{}", "seed": {}}})",
      draw(random, 1, 4), draw(random, 1, 3), draw(random, 1, 2), link_of_rate(draw(random, 1, 4)),
      draw_routing(random, {"ecmp", "d_mod_k", "spread"}), draw(random, 1, 100));
  return network_file("leaf_spine", std::to_string(draw(random, 2, most)), draw(random, 1, 3), network);
}

inline std::string draw_fat_tree(Random& random, int most) {
  const int leaf = draw(random, 1, 3);
  const int spine = draw(random, 1, 3);
  const auto network = fmt::format(
      R"({{"levels": [{{"down": {}}}, {{"down": {}, "parents": {}, "cables": {}, "link": {}}},
                      {{"parents": {}, "cables": {}, "link": {}}}], "routing": "{}"}})",
      leaf, spine, draw(random, 1, 2), draw(random, 1, 2), link_of_rate(draw(random, 1, 4)), draw(random, 1, 2),
      draw(random, 1, 2), link_of_rate(draw(random, 1, 4)), draw_routing(random, {"ecmp", "d_mod_k", "spread"}));
  return network_file("fat_tree", std::to_string(draw(random, 2, most)), draw(random, 1, 3), network);
}

/// All slots filled, as the formula of the bisection wants it.
inline std::string draw_dragonfly(Random& random, int most) {
  while (true) {
    const int groups = draw(random, 1, 4);
    const int chassis = draw(random, 1, 2);
    const int slots = draw(random, 1, 3);
    const int each = draw(random, 1, 2);
    const int nodes = groups * chassis * slots * each;
    if (nodes < 2 || nodes > most) continue;
    const auto network = fmt::format(
        R"({{"groups": {}, "chassis_per_group": {}, "routers_per_chassis": {}, "nodes_per_router": {},
             "rank1": {{"link": {}}}, "rank2": {{"link": {}, "cables": {}}},
             "rank3": {{"link": {}, "cables_per_pair": {}}}, "routing": "{}", "seed": {}}})",
        groups, chassis, slots, each, link_of_rate(draw(random, 2, 4)), link_of_rate(draw(random, 2, 4)),
        draw(random, 1, 3), link_of_rate(draw(random, 1, 2)), draw(random, 1, 2),
        draw_routing(random, {"minimal", "valiant", "adaptive"}), draw(random, 1, 100));
    return network_file("dragonfly", std::to_string(nodes), draw(random, 1, 3), network);
  }
}

inline std::string draw_torus(Random& random, int most) {
  while (true) {
    std::vector<int> sizes;
    int routers = 1;
    for (int dimensions = draw(random, 1, 3); dimensions > 0; --dimensions) {
      sizes.push_back(draw(random, 1, 5));
      routers *= sizes.back();
    }
    const int each = draw(random, 1, 2);
    if (routers * each < 2 || routers * each > most) continue;
    const auto network = fmt::format(R"({{"sizes": [{}], "nodes_per_router": {}, "link": {}}})", fmt::join(sizes, ","),
                                     each, link_of_rate(draw(random, 1, 3)));
    return network_file("torus", std::to_string(routers * each), draw(random, 1, 6), network);
  }
}

/// A tree of switches and hosts, and cables across it.
inline std::string draw_graph(Random& random, int most) {
  const int hosts = draw(random, 2, most);
  const int switches = draw(random, 1, 5);
  std::vector<std::string> names;
  std::vector<std::string> links;
  const auto join = [&](const std::string& from, const std::string& to) {
    links.push_back(fmt::format(R"({{"from": "{}", "to": "{}", "link": {}, "cables": {}}})", from, to,
                                link_of_rate(draw(random, 1, 4)), draw(random, 1, 2)));
  };
  const auto any_before = [&](int s) { return "s" + std::to_string(draw(random, 0, s - 1)); };
  std::vector<std::string> parts;
  for (int s = 0; s < switches; ++s) {
    parts.push_back(fmt::format(R"({{"name": "s{}"}})", s));
    if (s > 0) join("s" + std::to_string(s), any_before(s));
    if (s > 0) join(any_before(s), "s" + std::to_string(s));
  }
  for (int h = 0; h < hosts; ++h) {
    names.push_back(fmt::format("\"h{}\"", h));
    join("h" + std::to_string(h), any_before(switches));
  }
  const auto network = fmt::format(R"({{"hosts": [{}], "switches": [{}], "links": [{}]}})", fmt::join(names, ","),
                                   fmt::join(parts, ","), fmt::join(links, ","));
  return network_file("graph", std::to_string(hosts), draw(random, 1, 4), network);
}

struct DrawnKind {
  const char* name;
  std::string (*draw)(Random& random, int most_nodes);
};

inline void PrintTo(const DrawnKind& kind, std::ostream* out) {
  *out << kind.name;
}

inline const std::vector<DrawnKind>& drawn_kinds() {
  static const std::vector<DrawnKind> kinds{{"star", draw_star},         {"leaf_spine", draw_leaf_spine},
                                            {"fat_tree", draw_fat_tree}, {"dragonfly", draw_dragonfly},
                                            {"torus", draw_torus},       {"graph", draw_graph}};
  return kinds;
}

inline Platform built(const std::string& text) {
  const Topology topology = topology_of(text);
  return build(topology, topology.nodes.value_or(4), anywhere());
}

/// Where every link of the network leads from and to.
inline std::map<int, std::pair<int, int>> ends_of_links(const Platform& platform) {
  std::map<int, std::pair<int, int>> ends;
  for (const Cable& cable : platform.network.cables) {
    ends[cable.there] = {cable.from, cable.to};
    ends[cable.back] = {cable.to, cable.from};
  }
  return ends;
}

inline void expect_a_way(const Path& path, int from, int to, const std::map<int, std::pair<int, int>>& ends) {
  EXPECT_EQ(std::set<int>(path.begin(), path.end()).size(), path.size()) << "a link twice";
  int at = from;
  for (const int link : path) {
    ASSERT_TRUE(ends.contains(link));
    EXPECT_EQ(ends.at(link).first, at);
    at = ends.at(link).second;
  }
  EXPECT_EQ(at, to);
}

/// Every pair of nodes is routed, always the same way, along cables that exist.
inline void expect_ways_between_all(const Platform& platform) {
  const auto ends = ends_of_links(platform);
  const auto& at = platform.network.switch_of_nic;
  for (int from = 0; from < platform.nodes; ++from) {
    for (int to = 0; to < platform.nodes; ++to) {
      if (from == to) continue;
      const Paths paths = platform.network.paths(from, to);
      ASSERT_FALSE(paths.empty());
      EXPECT_EQ(platform.network.paths(from, to), paths);
      for (const Path& path : paths) {
        expect_a_way(path, at[static_cast<std::size_t>(from)], at[static_cast<std::size_t>(to)], ends);
      }
      if (platform.network.choice) continue;  // its routes are over all ways together
      EXPECT_EQ(platform.route(from, to).paths, static_cast<int>(paths.size()));
    }
  }
}

}  // namespace farandole
