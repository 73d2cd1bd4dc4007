// What MPI's messages cost where the machine's transport is that of another library (platform/mpi_transport.hpp).
#include "platform/mpi_transport.hpp"

#include <gmock/gmock.h>

#include "config/document.hpp"
#include "platform/network_scale.hpp"
#include "platform/samples.hpp"

namespace farandole::mpi_transport_test { namespace {

using testing::HasSubstr;

std::string machine(const std::string& protocol, const std::string& library, const std::string& mpi = "") {
  const std::string packets = protocol.empty() ? "" : R"(, "protocol": {"name": ")" + protocol + "\"}";
  const std::string own = mpi.empty() ? "" : R"(, "mpi": )" + mpi;
  return star(R"({"device": "p100", "nic": {"rate": "200 Gbit/s")" + packets + "}}",
              R"(, "transport": {"name": "NCCL", "inter_node_latency": "9.6 us", "intra_node_latency": "3 us",)"
              R"( "control_latency": "25 us", "launch": "8 us", "rendezvous": {"from": "4 MiB"}, "library": ")" +
                  library + "\"" + own + "}");
}

void expect_same(const Transport& found, const Transport& expected) {
  EXPECT_EQ(found.intra_node_latency, expected.intra_node_latency);
  EXPECT_EQ(found.inter_node_latency, expected.inter_node_latency);
  EXPECT_EQ(found.launch, expected.launch);
  EXPECT_EQ(found.message.rendezvous_from, expected.message.rendezvous_from);
  EXPECT_EQ(found.message.rendezvous, expected.message.rendezvous);
  EXPECT_EQ(found.message.eager_rate, expected.message.eager_rate);
  EXPECT_EQ(found.occupancy.send, expected.occupancy.send);
  EXPECT_EQ(found.handshakes.has_value(), expected.handshakes.has_value());
}

TEST(MpiTransport, IsThatOfTheNicsProtocolWhereTheTransportIsNcclsAndNobodySays) {
  for (const std::string library : {"nccl-2.10", "rccl-2.20"}) {
    for (const auto& [protocol, name, mpi] : {std::tuple("infiniband", "UCX", "openmpi-4"),
                                              {"roce_v2", "UCX", "openmpi-4"},
                                              {"slingshot", "cxi", "mpich"},
                                              {"tcp", "TCP", "openmpi-4"}}) {
      const Topology topology = topology_of(machine(protocol, library));
      ASSERT_TRUE(topology.mpi) << protocol;
      EXPECT_THAT(topology.mpi->name, HasSubstr(name));
      EXPECT_EQ(topology.mpi->library, mpi);
      EXPECT_EQ(topology.mpi->launch, 0_s);
      EXPECT_EQ(topology.mpi->handshakes.has_value(), std::string(protocol) == "tcp");
      EXPECT_EQ(topology.transport.inter_node_latency, 9.6e-6_s);
      EXPECT_EQ(topology.transport.message.rendezvous_from, 4_MiB);
    }
  }
}

TEST(MpiTransport, IsTheTransportWhereThatIsNobodysOrAnMpisOrNothingIsKnownOfTheProtocol) {
  for (const std::string library : {"", "openmpi-4", "mpich", "oneccl-2021.16"}) {
    EXPECT_FALSE(topology_of(machine("infiniband", library)).mpi) << library;
  }
  EXPECT_FALSE(topology_of(machine("", "nccl-2.10")).mpi);
  EXPECT_FALSE(topology_of(machine("aries", "nccl-2.10")).mpi);
}

TEST(MpiTransport, OverTcpIsWhatGoesBetweenHostsLongFrom64KiBOn) {
  const Transport mpi = *topology_of(machine("tcp", "nccl-2.10")).mpi;
  EXPECT_EQ(mpi.inter_node_latency, 25_us);
  EXPECT_EQ(mpi.message.rendezvous_from, 64_KiB);
}

TEST(MpiTransport, SaysByItsSectionWhatIsNotAsTheProtocolHasIt) {
  const Transport known = *mpi_over("infiniband", {});
  const Transport mpi = *topology_of(machine("infiniband", "nccl-2.10", R"({"inter_node_latency": "2 us"})")).mpi;
  Transport expected = known;
  expected.inter_node_latency = 2_us;
  expect_same(mpi, expected);
  // Limit and copies go together.
  const Transport copied = *topology_of(machine("infiniband", "nccl-2.10", R"({"eager_rate": "9 GB/s"})")).mpi;
  EXPECT_EQ(copied.message.rendezvous_from, Bytes::infinity());
  const std::string of_tcp = R"({"library": "mpich", "rendezvous": {"from": "1 KiB", "latency": "4 us"}})";
  const Transport other = *topology_of(machine("tcp", "nccl-2.10", of_tcp)).mpi;
  EXPECT_EQ(other.message.rendezvous_from, 1_KiB);
  EXPECT_FALSE(other.handshakes);  // Open MPI's
}

TEST(MpiTransport, IsAllThatIsSentWhereTheMachinesLibraryIsAnMpi) {
  const std::string section = R"({"inter_node_latency": "2 us", "occupancy": {"send": "1 us"}})";
  const Transport beside = *topology_of(machine("infiniband", "nccl-2.10", section)).mpi;
  const Topology topology = topology_of(machine("infiniband", "mpich", section));
  EXPECT_FALSE(topology.mpi);
  expect_same(topology.transport, beside);
  EXPECT_EQ(topology.transport.library, "mpich");
}

TEST(MpiTransport, RefusesUnknownKeysWithTheirPlaceAndSoDoesTheSchema) {
  const auto schema = test::source_folder() / "sim/config/schemas/topology.schema.json";
  for (const auto& [section, problem] :
       {std::pair{R"({"inter_node_latncy": "2 us"})", "\"inter_node_latency\""},
        {R"({"mpi": {}})", "/transport/mpi"},
        {R"({"channels": 2})", "/transport/mpi"},
        {R"({"inter_node_latency": "2 GB"})", "/transport/mpi/inter_node_latency: expected a time"},
        {R"("UCX")", "/transport/mpi: expected an object"}}) {
    const std::string text = machine("infiniband", "nccl-2.10", section);
    EXPECT_THAT(message_of([&] { topology_of(text); }), HasSubstr(problem)) << section;
    const bool is_of_its_form = section == std::string(R"({"inter_node_latency": "2 GB"})");  // any unit has it
    EXPECT_EQ(message_of([&] { check_schema(sample(text), schema); }) == "(no error)", is_of_its_form) << section;
  }
  EXPECT_THAT(message_of([] { topology_of(machine("", "nccl-2.10", R"({"inter_node_latency": "2 us"})")); }),
              HasSubstr("expected a key \"name\""));
  const char* const short_shake =
      R"({"eager_rate": "1 GB/s", "rendezvous": {"from": "8 KiB", "latency": "1 us"}})";  // 8.2 us of copying
  EXPECT_THAT(message_of([&] { topology_of(machine("infiniband", "nccl-2.10", short_shake)); }),
              HasSubstr("/transport/mpi/rendezvous: expected a handshake that takes at least as long"));
}

TEST(MpiTransport, OfNoProtocolHasAHandshakeShorterThanTheCopiesThatItSpares) {
  for (const char* protocol : {"infiniband", "roce_v2", "slingshot"}) {
    const MessageCost cost = mpi_over(protocol, {})->message;
    EXPECT_GE(cost.rendezvous, cost.rendezvous_from / cost.eager_rate) << protocol;
  }
}

TEST(MpiTransport, IsSaidByEveryMachineWhoseTransportIsNcclsAndWhoseNicHasAProtocol) {
  int machines = 0;
  for (const auto& file : topology_files()) {
    const Document document = Document::read(file);
    const Topology topology = read_topology(document.root(), file);
    const std::string library = topology.transport.library;
    const bool is_of_devices = library.starts_with("nccl") || library.starts_with("rccl");
    if (!is_of_devices || topology.nic.protocol.empty()) continue;
    ++machines;
    EXPECT_TRUE(document.find("/transport/mpi/library")) << file;
    EXPECT_TRUE(topology.mpi && is_mpi(topology.mpi->library)) << file;
    EXPECT_NE(topology.mpi->inter_node_latency, topology.transport.inter_node_latency) << file;
  }
  EXPECT_GT(machines, 20);
}

TEST(MpiTransport, IsScaledWithTheNetwork) {
  const Topology topology = topology_of(machine("infiniband", "nccl-2.10"));
  const Platform slow = build(topology, NetworkScale{1, 3}, 2, anywhere());
  EXPECT_DOUBLE_EQ(slow.mpi->inter_node_latency.si(), 3 * topology.mpi->inter_node_latency.si());
  EXPECT_DOUBLE_EQ(slow.mpi->message.rendezvous.si(), 3 * topology.mpi->message.rendezvous.si());
}

// UCX's own formula (mpi_transport.cpp has the constants), worked out again in microseconds and kB.
TEST(MpiTransport, OfUcxIsLongFromWhereItsFormulaSays) {
  const double registering = .18;
  const double overhead = .04;
  const double numerator = .99 * (2 * registering + 4 * .6 + 3 * overhead) - registering - overhead;
  const double denominator = 1e3 / (5008 * 1.048576e6 / 1e6) - .99e3 / 24.84e3;  // us per kB
  EXPECT_NEAR(mpi_over("infiniband", {})->message.rendezvous_from.si() / 1e3, numerator / denominator, .01);
}

struct Published {
  const char* protocol;
  double rate;  // of the wire, in B/s
  double bytes;
  double microseconds;
  double within;
};

/// One message on a quiet network: latency + size / rate + copying or handshake. Rows that no number was set by.
TEST(MpiTransport, MeetsTheRestOfTheTablesThatItsNumbersAreFrom) {
  for (const Published& row : {Published{"slingshot", 24.5e9, 2048, 4.44, .3},
                               {"slingshot", 24.5e9, 16384, 8.17, .04},
                               {"slingshot", 24.5e9, 32768, 8.44, .04},
                               {"slingshot", 24.5e9, 131072, 12.59, .04},
                               {"slingshot", 24.5e9, 1048576, 50.64, .02},
                               {"slingshot", 24.5e9, 4194304, 180.44, .02}}) {
    const Transport mpi = *mpi_over(row.protocol, {});
    const Bytes size(row.bytes);
    const double found = (mpi.inter_node_latency + mpi.message.of(size)).si() + row.bytes / row.rate;
    EXPECT_NEAR(found * 1e6 / row.microseconds, 1, row.within) << row.bytes;
  }
  for (const Published& row : {Published{"infiniband", 24.84e9, 4096, 3.55, .25},
                               {"infiniband", 24.84e9, 32768, 6.97, .18},
                               {"infiniband", 24.84e9, 131072, 14.46, .18},
                               {"infiniband", 24.84e9, 262144, 17.62, .02},
                               {"infiniband", 24.84e9, 1048576, 49.98, .02},
                               {"infiniband", 24.84e9, 4194304, 179.11, .03}}) {
    const Transport mpi = *mpi_over(row.protocol, {});
    const double found = (mpi.control_latency + mpi.message.of(Bytes(row.bytes))).si() + row.bytes / row.rate;
    EXPECT_NEAR(found * 1e6 / row.microseconds, 1, row.within) << row.bytes;
  }
}

}}  // namespace farandole::mpi_transport_test
