#include <fstream>
#include <iterator>
#include <limits>

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "platform/samples.hpp"

namespace farandole::read_topology_test { namespace {

using testing::HasSubstr;

std::filesystem::path schema() {
  return test::source_folder() / "sim/config/schemas/topology.schema.json";
}

TEST(TopologyFiles, AllLoadAndBuildAtTheirSizeAndMatchTheirSchema) {
  const auto files = topology_files();
  ASSERT_GE(files.size(), 5U);
  for (const auto& file : files) {
    SCOPED_TRACE(file.string());
    const auto document = Document::read(file);
    EXPECT_EQ(message_of([&] { check_schema(document, schema()); }), "(no error)");
    const auto topology = read_topology(document.root(), file);
    EXPECT_EQ(topology.name, file.stem().string());
    EXPECT_EQ(topology.file, file);
    const int nodes = topology.nodes.value_or(6);
    const auto platform = build(topology, nodes, document.root());
    EXPECT_EQ(platform.devices(), nodes * topology.devices_per_node);
  }
}

TEST(TopologyFiles, EthernetIsItsRateEachWayAndTwoMicrosecondsEndToEndAndNothingElse) {
  for (const auto& [name, rate] :
       {std::pair{"ethernet-10g", 10_Gbps}, {"ethernet-25g", 25_Gbps}, {"ethernet-100g", 100_Gbps}}) {
    SCOPED_TRACE(name);
    const auto topology = topology_named(name);
    EXPECT_FALSE(topology.nodes.has_value());
    const auto platform = build(topology, 2, anywhere());
    const auto route = platform.route(0, 1);
    EXPECT_EQ(route.latency, 2_us);
    for (const int link : route.links) {
      EXPECT_EQ(platform.links[static_cast<std::size_t>(link)].capacity, rate);
    }
    EXPECT_EQ(platform.transport.launch, 0_s);
    EXPECT_EQ(platform.device_spread, 0);
    EXPECT_EQ(platform.step_jitter, 0);
  }
}

TEST(TopologyFiles, ARingThroughARoceServerIsLimitedByItsNicAlone) {
  const auto platform = build(topology_named("roce25-4xp100"), 128, anywhere());
  for (int rank = 0; rank < 8; ++rank) {
    for (const int link : platform.route(rank, rank + 1).links) {
      const Link& used = platform.links[static_cast<std::size_t>(link)];
      EXPECT_TRUE(used.name.find("nic") != std::string::npos || used.capacity > 25_Gbps) << used.name;
    }
  }
  // latency(inside a server) = 1.9 * 5.7 us; latency(between servers) = 1.9 * 6.6 us
  EXPECT_DOUBLE_EQ(platform.route(0, 1).latency.si(), 1.9 * 5.7e-6);
  EXPECT_DOUBLE_EQ(platform.route(3, 4).latency.si(), 1.9 * 6.6e-6);
}

TEST(TopologyFiles, TheExampleOfTheirPageIsOne) {
  std::ifstream file(test::source_folder() / "docs/reference/topology.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto start = text.find("```json\n") + 8;
  const auto document = sample(text.substr(start, text.find("```", start) - start));
  EXPECT_EQ(message_of([&] { check_schema(document, schema()); }), "(no error)");
  const auto platform = build(read_topology(document.root(), "topology.md"), 16, anywhere());
  EXPECT_EQ(platform.devices(), 16 * 8);
}

struct Wrong {
  const char* what;
  std::string text;
  const char* message;
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.what;
}

class WrongTopology : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTopology, IsRefusedWithThePlaceAndTheReason) {
  EXPECT_THAT(message_of([] { topology_of(GetParam().text); }), HasSubstr(GetParam().message));
}

std::string with_pcie(const std::string& devices, const std::string& pcie) {
  return star(R"({"devices": )" + devices + R"(, "device": "d", "fabric": {"pcie": {"link": {"rate": "8 GB/s"}, )" +
              pcie + R"(}}, "nic": {"rate": "1 GB/s"}})");
}

INSTANTIATE_TEST_SUITE_P(
    Each, WrongTopology,
    testing::Values(
        Wrong{"unknown kind", R"({"name": "n", "summary": "s", "kind": "stra"})", "/kind: expected a topology kind"},
        Wrong{"open count misspelt", R"({"name": "n", "summary": "s", "kind": "star", "nodes": "many"})",
              "/nodes: expected a number of nodes, \"as needed\" or {\"unit\": 32, \"most\": 1024}, got \"many\""},
        Wrong{"fewer than a unit", R"({"name": "n", "summary": "s", "kind": "star", "nodes": {"unit": 8, "most": 4}})",
              "/nodes/most: expected"},
        Wrong{"no nodes", R"({"name": "n", "summary": "s", "kind": "star", "nodes": 0})", "/nodes: expected"},
        Wrong{"no device", star(R"({"nic": {"rate": "1 GB/s"}})"), "\"device\""},
        Wrong{"no NIC", star(R"({"device": "d"})"), "\"nic\""},
        Wrong{"devices below one", star(R"({"devices": 0, "device": "d"})"), "/node/devices: expected"},
        Wrong{"rate of zero", star(R"({"device": "d", "nic": {"rate": "0 GB/s"}})"),
              "/node/nic/rate: expected a rate above zero, of at least 1 bit/s, got \"0 GB/s\""},
        Wrong{"host rate of zero", star(R"({"device": "d", "nic": {"rate": "1 GB/s", "host_rate": "0 B/s"}})"),
              "/node/nic/host_rate: expected a rate above zero"},
        Wrong{"rate in bytes", star(R"({"device": "d", "nic": {"rate": "1 GB"}})"), "/node/nic/rate: expected a rate"},
        Wrong{"unknown key", star(R"({"device": "d", "nic": {"rate": "1 GB/s", "latncy": "1 us"}})"), "\"latency\""},
        Wrong{"source that is no text", star(R"({"device": "d", "source": 3, "nic": {"rate": "1 GB/s"}})"),
              "/node/source: expected"},
        Wrong{"no bus between devices", star(R"({"devices": 2, "device": "d", "nic": {"rate": "1 GB/s"}})"),
              "/node: expected a \"fabric\" (\"pcie\" or \"nvlink\") between the devices, got 2 devices without one"},
        Wrong{"uneven sockets", with_pcie("3", R"("sockets": 2, "interconnect": {"rate": "1 GB/s"})"),
              "/node/fabric/pcie: expected sockets that share the devices equally, got 3 devices on 2 sockets"},
        Wrong{"uneven switches", with_pcie("6", R"("devices_per_switch": 4)"), "6 devices on switches of 4"},
        Wrong{"switch across sockets",
              with_pcie("4", R"("sockets": 2, "devices_per_switch": 4, "interconnect": {"rate": "1 GB/s"})"),
              "2 devices on switches of 4"},
        Wrong{"sockets apart", with_pcie("4", R"("sockets": 2)"), "expected an \"interconnect\" between the sockets"},
        Wrong{"interconnect to nowhere", with_pcie("4", R"("interconnect": {"rate": "1 GB/s"})"),
              "expected an \"interconnect\" only between sockets, got one socket"},
        Wrong{"errors that are no object",
              star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})",
                   R"(, "calibration": {"date": "", "source": [], "parameters": [], "held_out": -1})"),
              "/calibration/held_out: expected an object"},
        Wrong{"forced without a reason",
              star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})",
                   R"(, "calibration": {"date": "", "source": [], "forced": true})"),
              "/calibration/forced: expected a string"},
        Wrong{"scatter without shares",
              star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})",
                   R"(, "calibration": {"date": "", "source": [], "parameters": [], "scatter": {"1 MiB": 1}})"),
              "/calibration/scatter/1 MiB: expected a percentage"},
        Wrong{"calibration to nothing", star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})", R"(, "calibration": {})"),
              "/calibration: expected a key \"source\""},
        Wrong{"number without a name",
              star(R"({"device": "d", "nic": {"rate": "1 GB/s"}})",
                   R"(, "calibration": {"date": "", "source": [], "parameters": [{"pointer": "/a", "value": "1"}]})"),
              "/calibration/parameters/0: expected a key \"name\""}));

TEST(TopologySchema, RefusesWhatTheReaderRefuses) {
  for (const auto& text :
       {star(R"({"device": "d", "nic": {"rate": "1 GB/s", "latncy": "1 us"}})"), star(R"({"device": "d"})"),
        star(R"({"device": "d", "nic": {"rate": 25}})"), star(R"({"device": "d", "nic": {"rate": "25 us"}})"),
        star(R"({"devices": 0, "device": "d", "nic": {"rate": "1 GB/s"}})")}) {
    EXPECT_NE(message_of([&] { check_schema(sample(text), schema()); }), "(no error)") << text;
    EXPECT_NE(message_of([&] { topology_of(text); }), "(no error)") << text;
  }
}

/// The size from which messages of a transport with these properties wait for their receivers.
double waits_from(const std::string& properties) {
  const std::string transport = R"(, "transport": {"name": "t")" + properties + "}";
  return topology_of(star(R"({"device": "p100", "nic": {"rate": "1 GB/s"}})", transport))
      .transport.message.rendezvous_from.si();
}

TEST(Transport, SaysFromWhichSizeOnMessagesWaitForTheirReceivers) {
  constexpr double never = std::numeric_limits<double>::infinity();
  EXPECT_EQ(waits_from(""), 65536);
  EXPECT_EQ(waits_from(R"(, "rendezvous": {"from": "4 MiB"})"), 4 * 1048576);
  EXPECT_EQ(waits_from(R"(, "eager_sends": true)"), never);
  EXPECT_EQ(waits_from(R"(, "eager_sends": true, "rendezvous": {"from": "1 KiB"})"), 1024);
  EXPECT_EQ(waits_from(R"(, "eager_rate": "4 GB/s")"), never);
  EXPECT_EQ(waits_from(R"(, "eager_rate": "4 GB/s", "rendezvous": {"from": "8 KiB", "latency": "3 us"})"), 8192);
}

/// What runs where nobody chose is what the real machine does.
TEST(Transport, OfOpenMpiOverTcpQueuesHandshakesBehindDataUnlessItSaysHow) {
  const auto handshakes = [](const std::string& protocol, const std::string& properties) {
    const std::string nic =
        R"({"device": "p100", "nic": {"rate": "1 GB/s", "protocol": {"name": ")" + protocol + "\"}}}";
    return topology_of(star(nic, R"(, "transport": {"name": "t")" + properties + "}")).transport.handshakes;
  };
  const auto shipped = handshakes("tcp", R"(, "library": "openmpi-4")");
  ASSERT_TRUE(shipped);
  EXPECT_EQ(shipped->ahead, open_mpi_over_tcp.ahead);
  EXPECT_EQ(handshakes("tcp", R"(, "library": "openmpi-4", "handshakes": {"ahead": "1 MiB"})")->ahead, 1_MiB);
  EXPECT_EQ(handshakes("tcp", R"(, "library": "openmpi-4", "handshakes": {"ahead": "1 MiB"})")->skew, Seconds(0));
  EXPECT_FALSE(handshakes("tcp", R"(, "library": "mpich")"));
  EXPECT_FALSE(handshakes("roce_v2", R"(, "library": "openmpi-4")"));
}

TEST(Transport, SaysWhatMessagesCostProcessorsReceivingAsMuchAsSendingUnlessGiven) {
  const auto of = [](const std::string& occupancy) {
    return star(R"({"device": "p100", "nic": {"rate": "1 GB/s"}})", R"(, "transport": {"name": "t")" + occupancy + "}");
  };
  EXPECT_EQ(topology_of(of("")).transport.occupancy.send.si(), 0);
  const Occupancy alike = topology_of(of(R"(, "occupancy": {"send": "2 us"})")).transport.occupancy;
  EXPECT_EQ(alike.send.si(), 2e-6);
  EXPECT_EQ(alike.receive.si(), 2e-6);
  const Occupancy two = topology_of(of(R"(, "occupancy": {"send": "2 us", "receive": "0.5 us"})")).transport.occupancy;
  EXPECT_EQ(two.receive.si(), 0.5e-6);
  for (const char* wrong : {R"(, "occupancy": {"receive": "2 us"})", R"(, "occupancy": {"send": "-2 us"})",
                            R"(, "occupancy": "2 us")", R"(, "occupancy": {"send": "2 us", "gap": "1 us"})"}) {
    EXPECT_NE(message_of([&] { check_schema(sample(of(wrong)), schema()); }), "(no error)") << wrong;
    EXPECT_NE(message_of([&] { topology_of(of(wrong)); }), "(no error)") << wrong;
  }
}

/// A transport that says that its switches add up, behind a NIC of that protocol.
std::string sharp(const std::string& protocol, const std::string& library, const std::string& says = "true") {
  const std::string nic =
      R"({"device": "a100", "nic": {"rate": "25 GB/s", "protocol": {"name": ")" + protocol + "\"}}}";
  return star(nic, R"(, "transport": {"name": "t", "library": ")" + library + R"(", "sharp": )" + says + "}");
}

TEST(Transport, AddsUpInSwitchesOnlyWhereItSaysSoOfInfinibandUnderNcclFrom27On) {
  EXPECT_FALSE(topology_of(star(R"({"device": "p100", "nic": {"rate": "1 GB/s"}})")).transport.sharp);
  EXPECT_TRUE(topology_of(sharp("infiniband", "nccl-2.7")).transport.sharp);
  EXPECT_TRUE(topology_of(sharp("infiniband", "")).transport.sharp);
  EXPECT_FALSE(topology_of(sharp("roce_v2", "mpich", "false")).transport.sharp);
  EXPECT_EQ(message_of([] { check_schema(sample(sharp("infiniband", "nccl-2.7")), schema()); }), "(no error)");
  for (const char* other : {"roce_v2", "slingshot", "tcp"}) {
    EXPECT_THAT(message_of([&] { topology_of(sharp(other, "nccl-2.21")); }),
                HasSubstr("/transport/sharp: expected false, as switches add up on InfiniBand only: the NIC's protocol "
                          "\"infiniband\", got true"))
        << other;
  }
  for (const std::string library : {"nccl-2.3", "nccl-2.5", "openmpi-4", "rccl-2.26"}) {
    EXPECT_THAT(message_of([&] { topology_of(sharp("infiniband", library)); }),
                HasSubstr("/transport/sharp: expected false, as CollNet is in NCCL from nccl-2.7 on, got true with \"" +
                          library + "\""));
  }
  EXPECT_NE(message_of([] { topology_of(sharp("infiniband", "nccl-2.7", "1")); }), "(no error)");
}

TEST(TopologyKinds, HaveNamesAndSummaries) {
  for (const auto& kind : topology_kinds()) {
    EXPECT_FALSE(kind.name.empty());
    EXPECT_FALSE(kind.summary.empty());
    EXPECT_NE(kind.builder.read, nullptr);
  }
}

}}  // namespace farandole::read_topology_test
