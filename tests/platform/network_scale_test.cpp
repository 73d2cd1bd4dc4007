// A network that is so many times as fast as its file says.
#include "platform/network_scale.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "platform/samples.hpp"

namespace farandole::network_scale_test { namespace {

using testing::HasSubstr;

/// Two devices a node on a switch, a NIC of 100 Gbit/s, and a transport with times of every kind.
const char* const text = R"({"name": "n", "summary": "s", "kind": "star", "nodes": 4,
  "node": {"devices": 2, "device": "d", "fabric": {"pcie": {"link": {"rate": "12 GB/s", "latency": "1 us"}}},
           "nic": {"rate": "100 Gbit/s", "host_rate": "5 GB/s", "latency": "2 us"}},
  "transport": {"name": "tcp", "intra_node_latency": "3 us", "inter_node_latency": "20 us", "launch": "8 us",
                "control_latency": "30 us", "source": "a test"}})";

Platform scaled_by(double rate, double latency) {
  return build(topology_of(text), NetworkScale{rate, latency}, 4, anywhere());
}

NetworkScale read(const std::string& scale) {
  return read_network_scale(sample(scale).root());
}

/// Rates times `rate`, latencies times `latency`, of every link and of all that messages wait for.
RC_GTEST_PROP(NetworkScaleOf, MultipliesWhatEveryLinkAndMessageHas, ()) {
  const double rate = *rc::gen::inRange(1, 1000) / 100.0;
  const double latency = *rc::gen::inRange(0, 1000) / 100.0;
  const Platform plain = scaled_by(1, 1);
  const Platform fast = scaled_by(rate, latency);
  const auto expect = [](double scaled, double expected) {
    RC_ASSERT(std::abs(scaled - expected) <= 1e-12 * std::abs(expected));
  };
  const auto compare = [&](const std::vector<Link>& links, const std::vector<Link>& before) {
    RC_ASSERT(links.size() == before.size());
    for (std::size_t i = 0; i < links.size(); ++i) {
      expect(links[i].capacity.si(), before[i].capacity.si() * rate);
      expect(links[i].wire.si(), before[i].wire.si() * rate);
      expect(links[i].latency.si(), before[i].latency.si() * latency);
    }
  };
  compare(fast.links, plain.links);
  compare(fast.node.links, plain.node.links);
  const auto times = [](const Transport& transport) {
    return std::vector<double>{transport.intra_node_latency.si(), transport.inter_node_latency.si(),
                               transport.launch.si(), transport.control_latency.si()};
  };
  for (std::size_t i = 0; i < 4; ++i) expect(times(fast.transport)[i], times(plain.transport)[i] * latency);
}

/// What others send stays as it is on a network twice as fast: of C twice as much is there, less the same.
TEST(NetworkScale, ComesBeforeWhatOthersTake) {
  std::string busy = text;
  busy.insert(busy.size() - 1, R"(, "condition": {"background": {"node1/nic0/up": "1 GB/s"}, "source": "a test"})");
  const Topology topology = topology_of(busy);
  const Platform quiet = scaled_by(1, 1);
  const Platform taken = build(topology, 4, anywhere());
  const Platform fast = build(topology, NetworkScale{2, 1}, 4, anywhere());
  int shared = 0;
  for (std::size_t link = 0; link < quiet.links.size(); ++link) {
    const BytesPerSecond others = quiet.links[link].capacity - taken.links[link].capacity;
    EXPECT_DOUBLE_EQ(fast.links[link].capacity.si(), (2 * quiet.links[link].capacity - others).si()) << link;
    if (others > BytesPerSecond(0)) ++shared;
  }
  EXPECT_EQ(shared, 1);
}

TEST(NetworkScale, HasARateAboveZeroAndALatencyThatIsNotBelowIt) {
  EXPECT_EQ(read("{}").rate, 1);
  EXPECT_EQ(read("{}").latency, 1);
  EXPECT_EQ(read(R"({"rate": 2.5, "latency": 0})").rate, 2.5);
  EXPECT_EQ(read(R"({"rate": 2.5, "latency": 0})").latency, 0);
  for (const char* bad : {"0", "-1", "-0.5"}) {
    EXPECT_THAT(message_of([&] { read(R"({"rate": )" + std::string(bad) + "}"); }), HasSubstr("a number above 0"))
        << bad;
  }
  for (const char* bad : {"-1", "-1e-9"}) {
    EXPECT_THAT(message_of([&] { read(R"({"latency": )" + std::string(bad) + "}"); }),
                HasSubstr("0 or a number above"));
  }
  EXPECT_THAT(message_of([] { read(R"({"rates": 2})"); }), HasSubstr("did you mean \"rate\"?"));
}

}}  // namespace farandole::network_scale_test
