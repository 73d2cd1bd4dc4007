#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "platform/topologies/graph.hpp"
#include "platform/topology.hpp"
#include "report/pages.hpp"

namespace farandole::topology_files_test { namespace {

using testing::HasSubstr;
using testing::Not;

Platform leaf_spine(int nodes) {
  const Document document = Document::parse(R"({"name": "sample", "summary": "s", "kind": "leaf_spine",
    "nodes": "as needed", "node": {"device": "d", "nic": {"rate": "10 GB/s", "latency": "2 us"}},
    "network": {"nodes_per_leaf": 2, "spines": 2, "cables_per_spine": 2, "routing": "spread",
                "link": {"rate": "20 GB/s", "latency": "1 us"}}})",
                                            "sample.json");
  return build(read_topology(document.root(), "sample.json"), nodes, document.root());
}

std::string dot_of(const Platform& platform) {
  std::ostringstream out;
  write_topology_dot(out, platform);
  return out.str();
}

std::string picture_of(const Platform& platform, std::span<const double> loads = {}) {
  std::ostringstream out;
  write_topology_picture(out, platform, loads);
  return out.str();
}

TEST(TopologyFile, AsAGraphIsReadBackWithAllItHas) {
  const Platform platform = leaf_spine(4);
  const GraphPlan graph = parse_dot(dot_of(platform), "sample.dot", std::nullopt);
  EXPECT_EQ(graph.hosts, 4);
  EXPECT_EQ(graph.vertices.size(), 4U + 2 + 2);
  ASSERT_EQ(graph.edges.size(), 4U + 4);
  EXPECT_EQ(graph.edges[0].there.wire, 10_GBps);
  EXPECT_EQ(graph.edges[0].there.latency, 1_us);
  EXPECT_EQ(graph.edges[7].there.wire, 20_GBps);
  EXPECT_EQ(graph.edges[7].cables, 2);
}

TEST(TopologyFile, ForSimGridHasEveryLinkAndTheRouteOfEveryPair) {
  const Platform platform = leaf_spine(4);
  std::ostringstream out;
  write_topology_simgrid(out, platform);
  EXPECT_THAT(out.str(), HasSubstr(R"(<link id="leaf1-spine0/up" bandwidth="40000000000Bps" latency="1e-06s")"));
  EXPECT_THAT(out.str(),
              HasSubstr(R"(<route src="device0" dst="device1" symmetrical="NO"><link_ctn id="node0/nic0/up"/>)"
                        R"(<link_ctn id="node1/nic0/down"/></route>)"));
  EXPECT_THAT(out.str(), HasSubstr(R"(<link_ctn id="leaf0-spine0/up"/><link_ctn id="leaf1-spine0/down"/>)"));
}

TEST(TopologyFile, ForSimGridIsReadBackWithEveryRoute) {
  // With one path a pair, and nothing that the software adds, the routes are the same links in the same order.
  const Document document = Document::parse(R"({"name": "tree", "summary": "s", "kind": "leaf_spine", "nodes": 4,
    "node": {"devices": 2, "device": "d", "nic": {"rate": "10 GB/s", "latency": "2 us"},
             "fabric": {"nvlink": {"link": {"rate": "50 GB/s", "latency": "1 us"}}}},
    "network": {"nodes_per_leaf": 2, "spines": 2, "link": {"rate": "20 GB/s", "latency": "1 us"}}})",
                                            "tree.json");
  const Platform platform = build(read_topology(document.root(), "tree.json"), 4, document.root());
  std::ostringstream out;
  write_topology_simgrid(out, platform);
  const RouteTable table = parse_simgrid(out.str(), "tree.xml");
  ASSERT_EQ(table.hosts.size(), 8U);
  ASSERT_EQ(table.links.size(), platform.links.size());
  for (std::size_t link = 0; link < table.links.size(); ++link) {
    EXPECT_EQ(table.links[link].name, platform.links[link].name);
    EXPECT_EQ(table.links[link].capacity, platform.links[link].capacity);
    EXPECT_EQ(table.links[link].latency, platform.links[link].latency);
  }
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      EXPECT_EQ(table.ways[static_cast<std::size_t>(8 * from + to)], platform.route(from, to).links);
    }
  }
}

/// A graph of two hosts whose switch has that name.
Platform around(const std::string& name) {
  Document document =
      Document::parse(R"({"name": "x", "summary": "s", "kind": "graph", "nodes": 2, "node": {"device": "d"},
    "network": {"hosts": ["h1", "h2"], "switches": [{"name": "x"}],
                "links": [{"from": "h1", "to": "x", "link": {"rate": "1 GB/s"}},
                          {"from": "x", "to": "h2", "link": {"rate": "1 GB/s"}}]}})",
                      "sample.json");
  for (const char* pointer : {"/name", "/network/switches/0/name", "/network/links/0/to", "/network/links/1/from"}) {
    document.set(pointer, Node{name, 1, nullptr});
  }
  return build(read_topology(document.root(), "sample.json"), 2, document.root());
}

std::string awkward_name() {
  return *rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab\"\\<>&'[]={};-/ \n\t"))));
}

// Whatever a name holds, it is one name: in DOT and in XML, written and read back.
RC_GTEST_PROP(TopologyFile, ReadsBackEveryName, ()) {
  const std::string name = awkward_name();
  const Platform platform = around(name);
  // Nodes without a NIC are attached to their switch with no link of their own: the file's edges there have no rate.
  const GraphPlan graph = parse_dot(dot_of(platform), "sample.dot", Topology::LinkRate{1_GBps, {}, {}});
  RC_ASSERT(std::ranges::count(graph.vertices, name, &GraphPlan::Vertex::name) == 1);
  RC_ASSERT(graph.vertices.size() == 5U);  // two nodes, two of the file's hosts as switches, and the switch
  std::ostringstream out;
  write_topology_simgrid(out, platform);
  const RouteTable table = parse_simgrid(out.str(), "sample.xml");
  RC_ASSERT(table.links.size() == platform.links.size());
  for (std::size_t link = 0; link < table.links.size(); ++link) {
    RC_ASSERT(table.links[link].name == platform.links[link].name);
  }
}

TEST(TopologyPicture, TakesANameForNothingButAName) {
  const std::string evil = R"name(s" [label="x"]; evil [URL="javascript:alert(1)"]; "x\)name";
  const GraphPlan read = parse_dot(picture_of(around(evil)), "picture.dot", Topology::LinkRate{1_GBps, {}, {}});
  ASSERT_EQ(read.vertices.size(), 5U);
  EXPECT_EQ(std::ranges::count(read.vertices, evil, &GraphPlan::Vertex::name), 1);
}

TEST(TopologyPicture, ShowsEveryNodeAndSwitchWhileTheyCanBeSeen) {
  const std::string picture = picture_of(leaf_spine(4));
  EXPECT_THAT(picture, HasSubstr("\"node3\" [shape=box"));
  EXPECT_THAT(picture, HasSubstr("\"spine0\" -- \"leaf1\" [label=\"2 x 160 Gbit/s\"]"));
}

TEST(TopologyPicture, DrawsTogetherWhatIsTooMany) {
  const std::string picture = picture_of(leaf_spine(200));
  EXPECT_THAT(picture, HasSubstr("label=\"level 0\\n100 switches\""));
  EXPECT_THAT(picture, HasSubstr("label=\"200 nodes\\n1 x d\""));
  EXPECT_THAT(picture, Not(HasSubstr("leaf7")));
}

TEST(TopologyPicture, GivesALineTheColourOfItsBusiestLink) {
  const Platform platform = leaf_spine(4);
  std::vector<double> loads(platform.links.size(), 0.0);
  loads[static_cast<std::size_t>(platform.network.cables[0].back)] = 0.5;
  const std::string picture = picture_of(platform, loads);
  EXPECT_THAT(picture, HasSubstr("\"spine0\" -- \"leaf0\" [color=\"0.165 0.9 0.8\", penwidth=3.0, label=\"50 %\"]"));
  EXPECT_THAT(picture, HasSubstr("\"spine1\" -- \"leaf0\" [color=\"0.330 0.9 0.8\", penwidth=1.0, label=\"0 %\"]"));
}

}}  // namespace farandole::topology_files_test
