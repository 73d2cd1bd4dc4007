#include "platform/topologies/graph.hpp"

#include <ctime>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "platform/bisection.hpp"
#include "platform/networks.hpp"

namespace farandole::graph_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two ways of two cables from a to b, one of three.
const char* const square =
    R"({"hosts": ["a", "b"], "switches": [{"name": "s"}, {"name": "t"}, {"name": "u", "ports": 2}],
  "links": [{"from": "a", "to": "u", "link": {"rate": "1 GB/s"}}, {"from": "u", "to": "t", "link": {"rate": "1 GB/s"}},
            {"from": "t", "to": "b", "link": {"rate": "2 GB/s"}, "back": {"rate": "3 GB/s"}},
            {"from": "a", "to": "t", "link": {"rate": "1 GB/s"}, "cables": 2},
            {"from": "a", "to": "s", "link": {"rate": "1 GB/s"}}, {"from": "s", "to": "b", "link": {"rate": "1 GB/s"}}]})";

std::string message_for(const std::string& network, const std::string& nodes = "2") {
  return message_of([&] { built(network_file("graph", nodes, 9, network)); });
}

TEST(Graph, TakesTheFewestCablesAndOfEqualWaysTheOneListedFirst) {
  const Platform platform = built(network_file("graph", "2", 9, square));
  EXPECT_THAT(names_of(platform, platform.route(0, 1)),
              ElementsAre("node0/nic0/up", "a-t.3/up", "t-b.2/up", "node1/nic0/down"));
  EXPECT_THAT(names_of(platform, platform.route(1, 0)),
              ElementsAre("node1/nic0/up", "t-b.2/down", "a-t.3/down", "node0/nic0/down"));
}

TEST(Graph, CablesMayDifferByDirectionAndComeInBundles) {
  const Platform platform = built(network_file("graph", "2", 9, square));
  const auto capacity = [&](const char* name) {
    return std::ranges::find(platform.links, name, &Link::name)->capacity;
  };
  EXPECT_EQ(capacity("t-b.2/up"), 2_GBps);
  EXPECT_EQ(capacity("t-b.2/down"), 3_GBps);
  EXPECT_EQ(capacity("a-t.3/up"), 2_GBps);
  // From a to b 2 through t and 1 through s; back 3 through t, of which a takes 2 and u 1, and 1 through s.
  EXPECT_EQ(bisection(platform).value(), 3_GBps);
  EXPECT_EQ(greatest_flow(platform, {false, true}), 4_GBps);
}

TEST(Graph, RefusesWhatCannotBe) {
  EXPECT_THAT(message_for(R"({"hosts": ["a", "b"], "links": []})"),
              HasSubstr("/network: expected a way between all hosts, got none from b to a"));
  EXPECT_THAT(message_for(R"({"hosts": ["a", "a"], "links": []})"),
              HasSubstr("/network/hosts/1: expected a name that"));
  EXPECT_THAT(message_for(R"({"hosts": ["a", "b"], "links": [{"from": "a", "to": "c", "link": {"rate": "1 B/s"}}]})"),
              HasSubstr("/network/links/0/to: expected a host or a switch"));
  EXPECT_THAT(message_for(square, "3"), HasSubstr("expected a host for each of 3 nodes, got 2 hosts"));
  EXPECT_THAT(message_for(R"({"file": "nowhere.dot"})"), HasSubstr("/network/file: expected a file that can be read"));
}

std::string dot_error(const std::string& text) {
  return message_of([&] { parse_dot(text, "g.dot", std::nullopt); });
}

TEST(DotFile, IsReadWithItsDefaults) {
  const GraphPlan graph = parse_dot(R"(strict graph "g" { // a comment
    edge [rate="10 Gbit/s", latency="1 us"]; rankdir = LR
    s [kind=switch, ports=8] /* another
    */
    a -- s -- "b c" [cables=2];
    # and one more
    d -- s [rate="1 GB/s"]
  })",
                                    "g.dot", std::nullopt);
  ASSERT_EQ(graph.vertices.size(), 4U);
  EXPECT_EQ(graph.hosts, 3);  // one edge each
  EXPECT_EQ(graph.vertices[1].name, "b c");
  EXPECT_EQ(graph.vertices[3].ports, 8);
  ASSERT_EQ(graph.edges.size(), 3U);
  EXPECT_EQ(graph.edges[0].there.wire, 10_Gbps);
  EXPECT_EQ(graph.edges[1].cables, 2);
  EXPECT_EQ(graph.edges[2].there.wire, 1_GBps);
  EXPECT_EQ(graph.edges[2].back.latency, 1_us);
}

TEST(DotFile, IsRefusedWithItsLine) {
  EXPECT_THAT(dot_error("digraph g {}"), HasSubstr("g.dot:1: "));
  EXPECT_THAT(dot_error("graph {\na -> b }"),
              HasSubstr("g.dot:2: expected \"--\", cables of both directions, got \"->\""));
  EXPECT_THAT(dot_error("graph {\n\na -- b }"), HasSubstr("g.dot:3: expected a rate of every edge"));
  EXPECT_THAT(dot_error("graph { // one\n# two\n/* three\nfour */ a -- b }"), HasSubstr("g.dot:4: expected a rate"));
  EXPECT_THAT(dot_error("graph { a -- b [rate=\"3 us\"] }"), HasSubstr("g.dot:1: expected a rate"));
  EXPECT_THAT(dot_error("graph { a [kind=router] }"), HasSubstr("expected kind=host or kind=switch, got \"router\""));
  EXPECT_THAT(dot_error("graph { subgraph x { a } }"), HasSubstr("no subgraphs"));
  EXPECT_THAT(dot_error("graph { a "), HasSubstr("got the end of the file"));
  EXPECT_THAT(dot_error("graph { \"a "), HasSubstr("a closing quotation mark"));
}

TEST(DotFile, HasNoNegativeLatencyAndNoRateThatNothingMovesAt) {
  EXPECT_THAT(dot_error("graph { a -- b [rate=\"1 GB/s\", latency=\"-40 us\"] }"),
              HasSubstr("g.dot:1: expected a time such as \"2 us\", got \"-40 us\" (negative)"));
  EXPECT_THAT(dot_error("graph { a -- b [rate=\"-1 GB/s\"] }"), HasSubstr("(negative)"));
  EXPECT_THAT(dot_error("graph { a -- b [rate=\"1e-300 B/s\"] }"), HasSubstr("(too small)"));
  EXPECT_THAT(dot_error("graph { a -- b [rate=\"0.001 B/s\"] }"), HasSubstr("expected a rate above zero"));
  EXPECT_THAT(dot_error("graph { a -- b [rate=\"1 GB/s\", cables=99999999] }"), HasSubstr("cables from 1 to 65536"));
}

/// Blanks and comments between them do not matter, nor does what else a file has.
TEST(DotFile, HasNamesOfLettersDigitsPointsAndLines) {
  const GraphPlan graph = parse_dot(
      "graph {edge[rate=\"1 GB/s\"];node[comment=x];s[kind=switch];_a--s;.5--s;/*\n*/b.c_9--s;//--\n7--s\n#--\n}",
      "g.dot", std::nullopt);
  std::vector<std::string> names;
  for (const auto& vertex : graph.vertices) names.push_back(vertex.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("s", "_a", ".5", "b.c_9", "7"));
  EXPECT_EQ(graph.edges.size(), 4U);
  for (const char* name : {"+a", "?", "(", "<a>"})
    EXPECT_NE(dot_error("graph { s -- " + std::string(name) + " }"), "(no error)");
}

TEST(DotFile, HasAsManyHostsAndSwitchesAsTheirWaysCanBeKeptOf) {
  std::string text = "graph {";
  for (std::size_t i = 0; i <= most_vertices; ++i) text += " v" + std::to_string(i) + ";";
  EXPECT_THAT(dot_error(text + "}"), HasSubstr("at most 8192 hosts and switches"));
}

// 4,000 things for the eye said of all edges, of which there are 4,000: 1.6 x 10^7 that nobody asks for, and gigabytes.
TEST(DotFile, KeepsNothingThatIsForTheEye) {
  std::string text = "graph { edge [rate=\"1 GB/s\"";
  for (int i = 0; i < 4000; ++i) text += fmt::format(", look{}=1", i);
  text += "]";
  for (int i = 0; i < 4000; ++i) text += " a -- b;";
  const std::clock_t begin = std::clock();
  EXPECT_EQ(parse_dot(text + "}", "g.dot", std::nullopt).edges.size(), 4000U);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.5);  // seconds of the processor
}

TEST(Graph, IsNoFileThatNeverEndsNorAFolder) {
  EXPECT_THAT(message_for(R"({"file": "/dev/zero"})"), HasSubstr("/network/file: expected a file that can be read"));
  EXPECT_THAT(message_for(R"({"file": "/tmp"})"), HasSubstr("a directory"));
}

}}  // namespace farandole::graph_test
