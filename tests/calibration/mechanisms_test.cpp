// What makes a TCP network differ from a wire: acknowledgements in the opposite direction, and sends that return at
// once.
#include <gtest/gtest.h>

#include "calibration/lab.hpp"

namespace farandole::mechanisms_test { namespace {

using test::row;

Topology lab_with(const std::string& nic, const std::string& transport) {
  const Document file = Document::parse(R"({"name": "lab", "summary": "", "kind": "star", "nodes": "as needed",
    "node": {"devices": 1, "device": "p100", "nic": {"rate": "100 Mbit/s")" +
                                            nic + R"(}},
    "transport": {"name": "tcp")" + transport +
                                            "}}",
                                        "lab.json");
  return read_topology(file.root(), "lab.json");
}

Seconds time_of(const Topology& topology, const MeasuredTime& what) {
  return predict(topology, std::vector{what}).front();
}

const char* const with_acknowledgements =
    R"(, "protocol": {"name": "tcp", "framing": "14 B", "packets_per_acknowledgement": 2})";
constexpr double payload = 12.5e6 * 1448 / 1514;  // bytes per second

TEST(Acknowledgements, CostNothingWhereTheWayBackIsIdle) {
  // M / B, B = rate (MTU - 52) / (MTU + 14)
  EXPECT_NEAR(time_of(lab_with(with_acknowledgements, ""), row(pingpong, "", 2, 4_MiB)).si(), 4194304 / payload, 1e-9);
}

TEST(Acknowledgements, TakeTheirShareWhereDataGoesBothWays) {
  // Each direction carries M and the other's acknowledgements, (52 + 14) / (1500 + 14) / 2 of M, in parts of 1/46.
  const double expected = 4194304 / payload * (1 + 1.0 / 46);
  EXPECT_NEAR(time_of(lab_with(with_acknowledgements, ""), row(exchange, "", 2, 4_MiB)).si(), expected, 1e-9);
}

TEST(EagerSends, LetARootSendToBothItsChildrenAtOnce) {
  // Binomial broadcast to 4: the root sends to 2 and to 1. Waiting for its sends: M/B to 2, then M/B to 1 and to 3.
  // At once: both share the root's link for 2 M/B, and 2 passes on to 3 only then.
  const Seconds once(4194304 / 12.5e6);
  EXPECT_NEAR(time_of(lab_with("", ""), row("broadcast", "binomial", 4, 4_MiB)) / once, 2, 1e-9);
  EXPECT_NEAR(time_of(lab_with("", R"(, "eager_sends": true)"), row("broadcast", "binomial", 4, 4_MiB)) / once, 3,
              1e-9);
}

/// Two workers, two servers, half of the array on each: a worker's link carries the whole, and so does a server's,
/// there and back, on connections of their own: 2 M / B.
TEST(EagerSends, ReachAllServersSideBySide) {
  MeasuredTime servers = row("parameter_server", "dedicated", 4, 4_MiB);
  servers.servers = 2;
  const Seconds once(4194304 / 12.5e6);
  EXPECT_NEAR(time_of(lab_with("", R"(, "eager_sends": true)"), servers) / once, 2, 1e-9);
}

TEST(EagerSends, ChangeNothingForARing) {
  for (const Bytes size : {1000_B, 1_MiB}) {
    const Seconds waiting = time_of(lab_with("", ""), row("allreduce", "ring", 5, size));
    const Seconds eager = time_of(lab_with("", R"(, "eager_sends": true)"), row("allreduce", "ring", 5, size));
    EXPECT_NEAR(eager / waiting, 1, 1e-9);
  }
}

TEST(EagerSends, MessagesToOneReceiverFollowOneAnother) {
  // A chain in 4 segments over 3 ranks: the root posts all segments; they arrive M/4 after M/4: (4 + 1) M/4 / B.
  MeasuredTime chain = row("broadcast", "chain", 3, 4_MiB);
  chain.segments = 4;
  const Seconds once(4194304 / 12.5e6);
  EXPECT_NEAR(time_of(lab_with("", R"(, "eager_sends": true)"), chain) / once, 1.25, 1e-9);
}

TEST(SendWindow, WhatIsPostedFirstIsAWindowAhead) {
  // Binomial broadcast to 4, 4 MiB: what the root sends to 1 begins H / B after what it sends to 2, and shares its link
  // from then on. 2 has all after (2 M - H) / B and passes it on to 3: (3 M - H) / B.
  const Seconds once(4194304 / 12.5e6);
  const Topology half = lab_with("", R"(, "eager_sends": true, "send_window": "1 MiB")");
  EXPECT_NEAR(time_of(half, row("broadcast", "binomial", 4, 4_MiB)) / once, 2.75, 1e-9);
  const Topology none = lab_with("", R"(, "eager_sends": true, "send_window": "0 B")");
  EXPECT_NEAR(time_of(none, row("broadcast", "binomial", 4, 4_MiB)) / once, 3, 1e-9);
}

TEST(SendWindow, ChangesNothingForARing) {
  const Topology with = lab_with("", R"(, "eager_sends": true, "send_window": "64 KiB")");
  const Topology without = lab_with("", R"(, "eager_sends": true)");
  const MeasuredTime ring = row("allreduce", "ring", 5, 1_MiB);
  EXPECT_NEAR(time_of(with, ring) / time_of(without, ring), 1, 1e-9);
}

TEST(SendWindow, IsOfEagerSendsOnly) {
  EXPECT_THROW(lab_with("", R"(, "send_window": "64 KiB")"), InputError);
}

/// Links of 12.5 MB/s, each a token bucket of 4,000 bytes.
Topology with_burst(const std::string& burst = "4000 B") {
  return lab_with(R"(, "latency": "10 us")", R"(, "eager_sends": true, "burst": ")" + burst + "\"");
}

TEST(Burst, AMessageThatFindsItsTokensTakesTheLatencyAlone) {
  EXPECT_NEAR(time_of(with_burst(), row(pingpong, "", 2, 4000_B)).si(), 10e-6, 1e-12);
  // (s - k) / r beyond
  EXPECT_NEAR(time_of(with_burst(), row(pingpong, "", 2, 5250_B)).si(), 10e-6 + 100e-6, 1e-12);
}

TEST(Burst, TokensThatCameInPausesAreThereForTheNextMessage) {
  // A ring of 2 ranks: two rounds of 3,000 bytes. The first finds its tokens; the second finds the 1,000 left and the
  // 10 us x 12.5 MB/s = 125 that have come: 10 us + 10 us + (3,000 - 1,125) / 12.5 MB/s.
  EXPECT_NEAR(time_of(with_burst(), row("allreduce", "ring", 2, 6000_B)).si(), 20e-6 + 1875 / 12.5e6, 1e-12);
}

TEST(Burst, OfAServersLinkIsThereOnceForAllOfItsWorkers) {
  // 4 workers send 2,000 bytes each over the one server's link: 4,000 of 8,000 find tokens; and back.
  MeasuredTime servers = row("parameter_server", "dedicated", 5, 2000_B);
  servers.servers = 1;
  const double pushed = 10e-6 + 4000 / 12.5e6;
  const double pulled = 10e-6 + (8000 - 4000) / 12.5e6;  // the way back has tokens of its own
  EXPECT_NEAR(time_of(with_burst(), servers).si(), pushed + pulled, 1e-9);
}

/// Of algorithms whose ranks send one message at a time: which of several shares a link first may change.
TEST(Burst, MoreOfItIsNeverSlowerAndNoneIsNone) {
  const Topology without = lab_with(R"(, "latency": "10 us")", R"(, "eager_sends": true)");
  for (const char* algorithm : {"ring", "recursive_doubling", "doubling_halving"}) {
    for (const Bytes size : {100_B, 5000_B, 60000_B, 1_MiB}) {
      const MeasuredTime what = row("allreduce", algorithm, 8, size);
      Seconds before = time_of(without, what);
      EXPECT_EQ(time_of(with_burst("0 B"), what), before);
      for (const char* burst : {"500 B", "3000 B", "40000 B"}) {
        const Seconds now = time_of(with_burst(burst), what);
        EXPECT_LE(now.si(), before.si() * (1 + 1e-12)) << algorithm << ' ' << size.si() << ' ' << burst;
        before = now;
      }
    }
  }
}

TEST(Burst, IsOfEagerSendsOnly) {
  EXPECT_THROW(lab_with("", R"(, "burst": "4 kB")"), InputError);
}

TEST(Hosts, OfOneDeviceMayHoldSeveralRanks) {
  // A ring of 8 ranks on 4 hosts crosses every host's link once: 2 (n - 1) / n M / B as with a host for each.
  MeasuredTime ring = row("allreduce", "ring", 8, 8_MiB);
  ring.nodes = 4;
  EXPECT_NEAR(time_of(lab_with("", ""), ring).si(), 2 * 7 / 8.0 * 8388608 / 12.5e6, 1e-4);
}

}}  // namespace farandole::mechanisms_test
