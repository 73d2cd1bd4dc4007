// A machine that is far too large is refused by the number of its parts, before any of them is made.
#include <gmock/gmock.h>

#include "platform/networks.hpp"
#include "platform/topologies/graph.hpp"

namespace farandole::limits_test { namespace {

using testing::HasSubstr;

std::string refusal(const std::string& kind, const std::string& network, const std::string& nodes = "2") {
  return message_of([&] { built(network_file(kind, nodes, 9, network)); });
}

std::string dragonfly(const std::string& groups, const std::string& routers, const std::string& more) {
  return R"({"groups": )" + groups + R"(, "routers_per_chassis": )" + routers + R"(, "nodes_per_router": 2, )" +
         R"("rank1": {"link": {"rate": "1 GB/s"}}, "rank3": {"link": {"rate": "1 GB/s"}, )" + more + "}}";
}

// Routers: groups x chassis x slots; cables: every pair within a chassis, every pair of groups.
TEST(Limits, OfADragonfly) {
  EXPECT_THAT(refusal("dragonfly", dragonfly("100000", "1", R"("cables_per_pair": 1)")),
              HasSubstr("expected at most 2,097,152 cables, got 4,999,950,000"));
  EXPECT_THAT(refusal("dragonfly", dragonfly("1", "100000", R"("cables_per_pair": 1)")), HasSubstr("cables"));
  EXPECT_THAT(refusal("dragonfly", dragonfly("3", "2", R"("cables_per_pair": 10000000)")), HasSubstr("2,097,152"));
  EXPECT_THAT(refusal("dragonfly", dragonfly("2147483647", "2147483647", R"("cables_per_pair": 1)")),
              HasSubstr("nodes in a dragonfly"));
  EXPECT_THAT(refusal("dragonfly", dragonfly("3", "2", R"("cables_per_router": 2147483647)")),
              HasSubstr("an integer from 1 to 65,536"));
}

TEST(Limits, OfTrees) {
  const auto leaf_spine = [](const std::string& numbers) {
    return refusal("leaf_spine", "{" + numbers + R"(, "link": {"rate": "1 GB/s"}})");
  };
  EXPECT_THAT(leaf_spine(R"("nodes_per_leaf": 1, "spines": 2147483647)"),
              HasSubstr("cables from a switch to the level above it"));
  EXPECT_THAT(leaf_spine(R"("nodes_per_leaf": 1, "spines": 2, "cables_per_spine": 2147483647)"), HasSubstr("cables"));
  EXPECT_THAT(leaf_spine(R"("nodes_per_leaf": 4, "oversubscription": 1e-12)"), HasSubstr("at most 65,536 uplinks"));
  EXPECT_THAT(leaf_spine(R"("nodes_per_leaf": 2147483647, "spines": 2)"), HasSubstr("ports of leaves for nodes"));
  const std::string link = R"("link": {"rate": "1 GB/s"})";
  EXPECT_THAT(refusal("fat_tree", R"({"levels": [{"down": 2}, {"down": 65536, "parents": 65536, )" + link +
                                      R"(}, {"down": 65536, "parents": 65536, )" + link + "}]}"),
              HasSubstr("1,048,576 switches"));
}

TEST(Limits, OfATorus) {
  EXPECT_THAT(refusal("torus", R"({"sizes": [2000, 2000], "link": {"rate": "1 GB/s"}})"),
              HasSubstr("1,048,576 routers"));
  EXPECT_THAT(refusal("torus", R"({"sizes": [8, 8], "nodes_per_router": 2147483647, "link": {"rate": "1 GB/s"}})"),
              HasSubstr("nodes on a router"));
}

TEST(Limits, OfANodeAndOfAllNodes) {
  const auto node = [](const std::string& nodes, const std::string& devices) {
    return message_of([&] {
      const Document document =
          Document::parse(R"({"name": "n", "summary": "s", "kind": "star", "nodes": )" + nodes +
                              R"(, "node": {"device": "d", "devices": )" + devices +
                              R"(, "nic": {"rate": "1 GB/s"}, "fabric": {"pcie": {"link": {"rate": "1 GB/s"}}}}})",
                          "n.json");
      read_topology(document.root(), "n.json");
    });
  };
  EXPECT_THAT(node("2", "10000"), HasSubstr("/node/devices: expected an integer from 1 to 512, got 10000"));
  EXPECT_THAT(node("2147483647", "8"), HasSubstr("/nodes: expected at most 4,194,304 devices, got 17,179,869,176"));
}

/// The ends of a range belong to it, what is one beyond does not.
TEST(Limits, OfNumbersAreTheirEnds) {
  const auto channels = [](const std::string& number) {
    return message_of([&] {
      topology_of(star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})",
                       R"(, "transport": {"name": "t", "source": "a test", "channels": )" + number + "}"));
    });
  };
  for (const char* end : {"0", "1024"}) EXPECT_EQ(channels(end), "(no error)") << end;
  for (const char* beyond : {"-1", "1025"}) EXPECT_THAT(channels(beyond), HasSubstr("/transport/channels: expected "));
  const auto nodes = [](const std::string& number) {
    return message_of([&] {
      topology_of(star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})",
                       R"(, "transport": {"name": "t", "source": "a test", "library_times": [{"library": "nccl-2.20",
                         "op": "allreduce", "ranks": 4, "nodes": )" +
                           number + R"(, "source": "a test", "pieces": [{"from": "0 B", "algorithm": "ring",
                         "protocol": "LL", "latency": "1 us", "rate": "1 GB/s", "source": "a test"}]}]})"));
    });
  };
  for (const char* end : {"1", "4"}) EXPECT_EQ(nodes(end), "(no error)") << end;
  for (const char* beyond : {"0", "5"}) EXPECT_THAT(nodes(beyond), HasSubstr("/nodes: expected ")) << beyond;
}

std::string dot_refusal(const std::string& what) {
  return message_of([&] { parse_dot("graph { edge [rate=\"1 GB/s\"]; " + what + " }", "g.dot", std::nullopt); });
}

TEST(Limits, OfNumbersInDotFilesAreTheirEnds) {
  const auto ports = [](const char* number) {
    return dot_refusal(std::string("a [kind=switch, ports=") + number + "]; b -- a -- c");
  };
  const auto cables = [](const char* number) {
    return dot_refusal(std::string("b -- a -- c; a -- d [cables=") + number + "]");
  };
  for (const char* end : {"0", "2097152"}) EXPECT_EQ(ports(end), "(no error)") << end;
  for (const char* beyond : {"2097153", "-1"}) EXPECT_THAT(ports(beyond), HasSubstr("g.dot:1: expected ")) << beyond;
  for (const char* end : {"1", "65536"}) EXPECT_EQ(cables(end), "(no error)") << end;
  for (const char* beyond : {"0", "65537"}) EXPECT_THAT(cables(beyond), HasSubstr("cables from 1 to 65536")) << beyond;
}

}}  // namespace farandole::limits_test
