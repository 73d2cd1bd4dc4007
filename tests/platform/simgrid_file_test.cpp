// Platform files of SimGrid, and graphs that are a topology by themselves.
#include <ctime>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "platform/bisection.hpp"
#include "platform/graph_file.hpp"
#include "platform/networks.hpp"
#include "platform/topologies/graph.hpp"

namespace farandole::simgrid_file_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string zone(const std::string& routing, const std::string& inside) {
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
         "<platform version=\"4.1\">\n<zone id=\"z\" routing=\"" +
         routing + "\">\n" + inside + "</zone>\n</platform>\n";
}

std::string error_of(const std::string& text) {
  return message_of([&] { parse_simgrid(text, "p.xml"); });
}

const std::string pair = R"(<host id="a" speed="1Gf"/><host id="b" speed="1Gf"><prop id="rack" value="7"/></host>
<link id="wire" bandwidth="125MBps" latency="50us"/>
<link id="both" bandwidth="1Gbps" latency="0.1ms" sharing_policy="SPLITDUPLEX"/>
)";

TEST(SimGridFile, HasItsUnitsAndPolicies) {
  const RouteTable table = parse_simgrid(
      zone("Full",
           pair + R"(<route src="a" dst="b"><link_ctn id="wire"/><link_ctn id="both" direction="UP"/></route>)"),
      "p.xml");
  EXPECT_THAT(table.hosts, ElementsAre("a", "b"));
  ASSERT_EQ(table.links.size(), 3U);
  EXPECT_EQ(table.links[0].capacity, 1_Gbps);
  EXPECT_EQ(table.links[0].latency, 50_us);
  EXPECT_EQ(table.links[2].name, "both/down");
  EXPECT_NEAR(table.links[2].latency.si(), 1e-4, 1e-18);
  // A shared link has one capacity for both directions, of a split one each has its own; the way back is backwards.
  EXPECT_THAT(table.ways[1], ElementsAre(0, 1));
  EXPECT_THAT(table.ways[2], ElementsAre(2, 0));
}

TEST(SimGridFile, WithRoutersHasTheWaysWithTheFewestLinks) {
  // a - r - s - b, and a shorter way by r - b.
  std::string inside = R"(<host id="a" speed="1Gf"/><router id="r"/><router id="s"/><host id="b" speed="1Gf"/>)";
  for (const std::string name : {"ar", "rs", "sb", "rb"}) {
    inside += R"(<link id=")" + name + R"(" bandwidth="1GBps" latency="1us"/>)";
  }
  for (const std::string ends : {"ar", "rs", "sb", "rb"}) {
    inside += R"(<route src=")" + ends.substr(0, 1) + R"(" dst=")" + ends.substr(1) + R"("><link_ctn id=")" + ends +
              R"("/></route>)";
  }
  for (const std::string routing : {"Floyd", "Dijkstra"}) {
    const RouteTable table = parse_simgrid(zone(routing, inside), "p.xml");
    EXPECT_THAT(table.hosts, ElementsAre("a", "b"));
    EXPECT_THAT(table.ways[1], ElementsAre(0, 3));
    EXPECT_THAT(table.ways[2], ElementsAre(3, 0));
  }
}

// Two ways from a to b have two links each, by r and by s; r stands first in the file. c is nearer by r, too: of its
// two ways with three links, over b or over t, the one over what is listed first counts.
TEST(SimGridFile, TakesOfWaysWithAsManyLinksTheOneOverThePointListedFirst) {
  std::string inside =
      R"(<host id="a" speed="1Gf"/><router id="r"/><router id="s"/><host id="b" speed="1Gf"/><router id="t"/>)"
      R"(<host id="c" speed="1Gf"/>)";
  for (const std::string ends : {"as", "sb", "ar", "rb", "rt", "tc", "bc"}) {
    inside += R"(<link id=")" + ends + R"(" bandwidth="1GBps"/><route src=")" + ends.substr(0, 1) + R"(" dst=")" +
              ends.substr(1) + R"("><link_ctn id=")" + ends + R"("/></route>)";
  }
  const RouteTable table = parse_simgrid(zone("Floyd", inside), "p.xml");
  EXPECT_THAT(table.hosts, ElementsAre("a", "b", "c"));
  EXPECT_THAT(table.ways[1], ElementsAre(2, 3));     // a, r, b
  EXPECT_THAT(table.ways[2], ElementsAre(2, 3, 6));  // a, r, b, c
}

// 2,000 hosts around a router have 4 x 10^6 ways. Looking at all pairs of points for every host, 8 x 10^9 times, takes
// ten times as long.
TEST(SlowSimGridFile, OfManyHostsIsReadInTheTimeThatItsWaysTake) {
  constexpr std::size_t hosts = 2000;
  std::string inside = R"(<router id="r"/>)";
  for (std::size_t i = 0; i < hosts; ++i) {
    inside += fmt::format(R"(<host id="h{0}" speed="1Gf"/><link id="l{0}" bandwidth="1GBps"/>)"
                          R"(<route src="h{0}" dst="r"><link_ctn id="l{0}"/></route>)",
                          i);
  }
  const std::clock_t begin = std::clock();
  const RouteTable table = parse_simgrid(zone("Floyd", inside), "p.xml");
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 6);  // seconds of the processor
  EXPECT_THAT(table.ways[hosts + 2], ElementsAre(1, 2));
}

TEST(SimGridFile, IsRefusedWithItsLineWhereItSaysMore) {
  EXPECT_THAT(error_of("<a/>"), HasSubstr("p.xml:1: /: expected a <platform> of SimGrid, got <a>"));
  EXPECT_THAT(error_of(zone("Vivaldi", "")), HasSubstr("p.xml:4: /: expected routing Full, Floyd or Dijkstra"));
  EXPECT_THAT(error_of(zone("Full", "<cluster id=\"c\"/>")), HasSubstr("expected hosts, routers, links and routes"));
  EXPECT_THAT(error_of(zone("Full", pair)), HasSubstr("a way between all hosts, got none from a to b"));
  EXPECT_THAT(error_of(zone("Full", R"(<link id="l" bandwidth="3s"/>)")), HasSubstr("p.xml:5: /: expected a rate"));
  EXPECT_THAT(error_of(zone("Full", R"(<link id="l" bandwidth="1GBps" sharing_policy="FATPIPE"/>)")),
              HasSubstr("expected the sharing policy SHARED or SPLITDUPLEX, got \"FATPIPE\""));
  EXPECT_THAT(error_of(zone("Full", pair + R"(<route src="a" dst="b"><link_ctn id="both"/></route>)")),
              HasSubstr("p.xml:8: /: expected the direction UP or DOWN"));
  EXPECT_THAT(error_of(zone("Full", pair + R"(<route src="a" dst="c"/>)")), HasSubstr("a host or a router"));
  EXPECT_THAT(error_of("<!DOCTYPE platform [ <!ENTITY a \"b\"> ]><platform/>"), HasSubstr("a doctype that only names"));
}

/// A file of this test's own.
std::filesystem::path written(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "farandole-graph-files";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  return folder / name;
}

Platform whole(const std::filesystem::path& file) {
  const Document document = topology_of_graph_file(file);
  const Topology topology = read_topology(document.root(), file);
  return build(topology, topology.nodes.value(), document.root());
}

TEST(GraphFile, IsATopologyWhoseNodesAddNothing) {
  const Platform dot = whole(written("pair.dot", "graph { edge [rate=\"1 GB/s\", latency=\"1 us\"]; a -- s -- b }"));
  EXPECT_EQ(dot.name, "pair");
  EXPECT_EQ(dot.nodes, 2);
  EXPECT_THAT(names_of(dot, dot.route(0, 1)), ElementsAre("a-s.0/up", "s-b.1/up"));
  EXPECT_EQ(dot.route(0, 1).latency, 2_us);
  EXPECT_EQ(bisection(dot).value(), 1_GBps);
  const Platform xml =
      whole(written("pair.xml", zone("Full", pair + R"(<route src="a" dst="b"><link_ctn id="wire"/></route>)")));
  EXPECT_EQ(xml.nodes, 2);
  EXPECT_THAT(names_of(xml, xml.route(1, 0)), ElementsAre("wire"));
  EXPECT_FALSE(bisection(xml).has_value());
}

TEST(GraphFile, TakesANicAndADeviceAsAnyOtherTopology) {
  const auto file = written("with.dot", "graph { edge [rate=\"1 GB/s\"]; a -- s -- b }");
  Document document = topology_of_graph_file(file);
  document.set("/node/device", "v100");
  document.set("/node/nic", R"({"rate": "2 GB/s", "latency": "3 us"})");
  const Topology topology = read_topology(document.root(), file);
  const Platform platform = build(topology, 2, document.root());
  EXPECT_EQ(platform.device, "v100");
  EXPECT_THAT(names_of(platform, platform.route(0, 1)),
              ElementsAre("node0/nic0/up", "a-s.0/up", "s-b.1/up", "node1/nic0/down"));
}

TEST(GraphFile, IsRefusedWhereItIsNone) {
  EXPECT_THAT(message_of([] { topology_of_graph_file("nowhere.dot"); }), HasSubstr("nowhere.dot"));
  const auto empty = written("empty.dot", "graph { }");
  EXPECT_THAT(message_of([&] { topology_of_graph_file(empty); }), HasSubstr("expected at least one host"));
}

TEST(SimGridFile, HasNoNegativeLatencyAndNoRateThatNothingMovesAt) {
  const auto link = [](const std::string& bandwidth, const std::string& latency) {
    return error_of(zone("Full", "<link id=\"w\" bandwidth=\"" + bandwidth + "\" latency=\"" + latency + "\"/>"));
  };
  EXPECT_THAT(link("1GBps", "-50us"),
              HasSubstr("p.xml:5: /: expected a time such as \"2 us\", got \"-50us\" (negative)"));
  EXPECT_THAT(link("-1GBps", "1us"), HasSubstr("(negative)"));
  EXPECT_THAT(link("1e-300Bps", "1us"), HasSubstr("(too small)"));
  EXPECT_THAT(link("0.01Bps", "1us"), HasSubstr("expected a rate above zero"));
}

TEST(SimGridFile, HasNamesOfAllCharactersBehindEntities) {
  const RouteTable table =
      parse_simgrid(zone("Full", R"(<host id="a&quot;&amp;&lt;&gt;&apos;&#10;" speed="1Gf"/>)"), "p.xml");
  EXPECT_THAT(table.hosts, ElementsAre("a\"&<>'\n"));
  for (const char* bad : {"&lol;", "&#0;", "&#300;", "&", "&amp"}) {
    EXPECT_THAT(error_of(zone("Full", "<host id=\"" + std::string(bad) + "\"/>")), HasSubstr("no entities but")) << bad;
  }
}

/// A graph of two hosts, under that name, taken for a whole topology.
Topology topology_in(const std::string& name, const std::string& text) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "farandole-graph-names";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  const Document document = topology_of_graph_file(folder / name);
  Topology topology = read_topology(document.root(), folder / name);
  std::filesystem::remove_all(folder);
  return topology;
}

// A file's name is no JSON: whatever the file system takes will do.
TEST(GraphFile, MayHaveAnyName) {
  const std::string dot = "graph { a -- b [rate=\"1 GB/s\"] }";
  for (const std::string& stem :
       {std::string(200, 'n'), std::string("a\"b"), std::string("a\\b"), std::string("a b\n"), std::string("\xff")}) {
    EXPECT_EQ(topology_in(stem + ".dot", dot).nodes, 2) << stem;
  }
  EXPECT_EQ(topology_in("a\"b\\.dot", dot).name, "a\"b\\");
}

TEST(GraphFile, IsReadWithinTheLimitsOfAllFiles) {
  EXPECT_THAT(message_of([] { topology_of_graph_file(testing::TempDir()); }), HasSubstr("a directory"));
  const auto endless = std::filesystem::path(testing::TempDir()) / "farandole-endless.dot";
  std::filesystem::remove(endless);
  std::filesystem::create_symlink("/dev/zero", endless);
  EXPECT_THAT(message_of([&] { topology_of_graph_file(endless); }), HasSubstr("a device"));
  std::filesystem::remove(endless);
}

}}  // namespace farandole::simgrid_file_test
