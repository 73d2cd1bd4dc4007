// MPI on machines whose transport is NCCL's: named as a library, and between the hosts of Horovod's levels.
#include <gmock/gmock.h>

#include "scenario/collective_run.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::mpi_test { namespace {

using test::Change;
using testing::HasSubstr;

const std::string levels = R"({"kind": "horovod", "version": "0.26.0",
                               "settings": {"HOROVOD_HIERARCHICAL_ALLREDUCE": "1"}})";
const std::string plain = R"({"kind": "horovod", "version": "0.26.0"})";

std::vector<Change> on(const std::string& topology, const std::string& strategy, const std::string& overrides = "{}") {
  return {{"/strategy", strategy},
          {"/platform/topology", topology},
          {"/platform/override", overrides},
          {"/platform/ranks", "16"}};
}

Seconds iteration(const std::vector<Change>& changes) {
  return test::run(changes).points.front().iteration;
}

std::vector<Change> by(const std::string& library, std::vector<Change> changes) {
  changes.push_back({"/collectives", R"({"allreduce": ")" + library + "\"}"});
  return changes;
}

const std::string slow_mpi =
    R"({"/transport/mpi/control_latency": "1 ms", "/transport/mpi/inter_node_latency": "1 ms"})";

TEST(MpiOnAnotherTransport, CarriesHorovodsAllreduceBetweenHosts) {
  EXPECT_GT(iteration(on("dgx-a100", levels, slow_mpi)), iteration(on("dgx-a100", levels)) + 1_ms);
  EXPECT_EQ(iteration(on("dgx-a100", plain, slow_mpi)), iteration(on("dgx-a100", plain)));
}

TEST(MpiOnAnotherTransport, IsTheMpiThatTheTopologyNamesBetweenHosts) {
  // Of three ranks Open MPI picks a ring for long arrays, MPICH halves.
  const auto with = [](const std::string& library) {
    auto changes = on("dgx-a100", levels, R"({"/transport/mpi/library": ")" + library + "\"}");
    changes.back().value = "24";
    return iteration(changes);
  };
  EXPECT_NE(with("openmpi-4"), with("mpich"));
  EXPECT_THAT(test::error_of(on("dgx-a100", levels, R"({"/transport/mpi/library": "nccl-2.10"})")),
              HasSubstr("/transport/mpi/library: expected an MPI, got \"nccl-2.10\""));
  EXPECT_THAT(test::error_of(on("dgx-a100", levels, R"({"/transport/mpi/library": "openmpi-3"})")),
              HasSubstr("did you mean \"openmpi-4\"?"));
}

TEST(MpiOnAnotherTransport, TakesItsOwnMessagesAndSaysSo) {
  for (const char* topology : {"dgx-a100", "polaris"}) {
    for (const char* mpi : {"openmpi-4", "mpich"}) {
      const RunResult result = test::run(by(mpi, on(topology, plain)));
      EXPECT_TRUE(result.settings.contains("transport.mpi.inter_node_latency")) << topology;
      EXPECT_GT(iteration(by(mpi, on(topology, plain, slow_mpi))), result.points.front().iteration) << topology;
    }
    EXPECT_FALSE(test::run(on(topology, plain)).settings.contains("transport.mpi.name"));
  }
}

TEST(MpiOnAnotherTransport, HasItsNumbersWhereNothingIsKnownOfMpiAndSaysSo) {
  const RunResult result = test::run(by("openmpi-4", on("roce25-4xp100", plain)));
  EXPECT_THAT(result.settings.at("transport.mpi.name"), HasSubstr("for nothing is known of MPI there"));
  EXPECT_FALSE(test::run(by("openmpi-4", on("ethernet-25g", plain))).settings.contains("transport.mpi.name"));
  EXPECT_FALSE(test::run(by("mpich", on("theta", plain))).settings.contains("transport.mpi.name"));
}

TEST(MpiOnAnotherTransport, IsOnAllOfTheMachineWhoseLibraryItIsMadeAndNoChangeOfNccls) {
  const std::string override_library = R"({"/transport/library": "openmpi-4"})";
  EXPECT_EQ(iteration(on("dgx-a100", plain, override_library)), iteration(by("openmpi-4", on("dgx-a100", plain))));
  // A plain algorithm follows the machine: NCCL's messages by default, MPI's there.
  EXPECT_NE(iteration(by("ring", on("dgx-a100", plain, override_library))),
            iteration(by("ring", on("dgx-a100", plain))));
}

/// One allreduce of 8 floats over 16 ranks as tables have it.
TEST(MpiOnAnotherTransport, OfACollectiveByItselfIsThatOfAMachineWhoseTransportItIs) {
  const Document where = Document::parse("{}", "test");
  const Topology topology = Catalogue().topology("dgx-a100", where.root());
  Topology other = topology;
  other.transport = *topology.mpi;
  other.mpi.reset();
  CollectiveRequest request;
  request.algorithm = *find_algorithm_or_library(Operation::allreduce, "openmpi-4");
  request.sizes = {8_B, 4_KiB, 16_MiB};
  request.fidelities = {Fidelity::analytic, Fidelity::flow, Fidelity::message};
  request.ranks = 16;
  request.library = use_library(request.algorithm, topology.transport,
                                Catalogue().device(topology.device, where.root()), where.root());
  const auto found = run_collective(request, topology, where.root());
  const auto expected = run_collective(request, other, where.root());
  ASSERT_EQ(found.size(), 9U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].time, expected[i].time) << i;
    EXPECT_EQ(found[i].folded, expected[i].folded) << i;
  }
  EXPECT_EQ(collective_settings(request, topology).at("transport.mpi.name"), topology.mpi->name);
}

}}  // namespace farandole::mpi_test
