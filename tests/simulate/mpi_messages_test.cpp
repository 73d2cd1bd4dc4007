// What an MPI library takes where MPI's messages are not those of the machine's transport (Platform::mpi).
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "simulate/library/planners.hpp"
#include "simulate/library_kit.hpp"

namespace farandole::mpi_messages_test { namespace {

using test::all_fidelities;
using test::dgx_a100;
using test::in_order;
using test::library_clock;
using test::time;

constexpr std::array mpis{"openmpi-4", "mpich", "mpich-3"};

Transport of_mpi() {
  Transport transport;
  transport.name = "MPI";
  transport.library = "openmpi-4";
  transport.intra_node_latency = 2_us;
  transport.inter_node_latency = 4_us;
  transport.launch = 1_us;
  transport.message = {16_KiB, 5_us, 4_GBps};
  transport.occupancy = {0.3e-6_s, 0.3e-6_s};
  return transport;
}

Platform with_nccl(int nodes) {
  Platform platform = dgx_a100(nodes);
  platform.transport.intra_node_latency = 3.4e-6_s;
  platform.transport.inter_node_latency = 9.6e-6_s;
  platform.transport.launch = 8.4e-6_s;
  platform.transport.message.rendezvous_from = 4_MiB;
  platform.transport.library = "nccl-2.10";
  return platform;
}

Platform with_both(int nodes) {
  Platform platform = with_nccl(nodes);
  platform.mpi = of_mpi();
  return platform;
}

/// A machine of which nothing is known but MPI.
Platform with_mpi_alone(int nodes) {
  Platform platform = dgx_a100(nodes);
  platform.transport = of_mpi();
  return platform;
}

TEST(MpiMessages, OfAnMpiLibraryAreThoseOfAMachineWhoseTransportTheyAre) {
  const Platform both = with_both(2);
  const Platform alone = with_mpi_alone(2);
  const Placement placement = in_order(16);
  for (const char* mpi : mpis) {
    for (const Operation operation : find_library(mpi)->operations) {
      for (const Fidelity fidelity : all_fidelities) {
        const auto times_on = [&](const Platform& platform) {  // of a clock at a time: a process holds one network
          const auto clock = library_clock(mpi, operation, platform, placement, fidelity);
          std::vector<double> times;
          for (const Bytes size : {8_B, 1_KiB, 256_KiB, 64_MiB}) times.push_back(time(*clock, size, 16).si());
          times.push_back(clock->answer(64_MiB, all_at(16, 0_s)).provenance.folded ? 1 : 0);
          return times;
        };
        EXPECT_EQ(times_on(both), times_on(alone)) << mpi << ' ' << name(operation) << ' ' << name(fidelity);
      }
    }
  }
}

TEST(MpiMessages, OfTheTransportAreOtherOnes) {
  const Platform nccl = with_nccl(2);
  const Platform both = with_both(2);
  const Placement placement = in_order(16);
  for (const char* mpi : mpis) {
    auto before = library_clock(mpi, Operation::allreduce, nccl, placement);
    auto now = library_clock(mpi, Operation::allreduce, both, placement);
    EXPECT_LT(time(*now, 8_B, 16), time(*before, 8_B, 16)) << mpi;
  }
}

TEST(MpiMessages, AreOfNoMeaningToLibrariesOfDevices) {
  const Platform nccl = with_nccl(2);
  const Platform both = with_both(2);
  const Placement placement = in_order(16);
  for (const Library* each : libraries()) {
    const Library& library = *each;
    if (library.needs != DeviceStack::cuda) continue;
    for (const Operation operation : library.operations) {
      auto before = library_clock(library.name, operation, nccl, placement);
      auto now = library_clock(library.name, operation, both, placement);
      for (const Bytes size : {8_B, 256_KiB, 64_MiB}) {
        EXPECT_EQ(time(*now, size, 16), time(*before, size, 16)) << library.name << ' ' << name(operation);
      }
    }
  }
}

/// A handshake that takes longer, for whatever an MPI picks.
RC_GTEST_PROP(MpiMessages, NeverGetFasterByALongerHandshake, ()) {
  const char* const mpi = *rc::gen::elementOf(std::vector<const char*>(mpis.begin(), mpis.end()));
  const Operation operation = *rc::gen::elementOf(find_library(mpi)->operations);
  const Fidelity fidelity = *rc::gen::elementOf(std::vector<Fidelity>(all_fidelities.begin(), all_fidelities.end()));
  const int ranks = *rc::gen::inRange(2, 17);
  const Bytes size(std::pow(2, *rc::gen::inRange(0, 26)));
  const Placement placement = in_order(ranks);
  const Platform platform = with_both(2);
  const Seconds before = time(*library_clock(mpi, operation, platform, placement, fidelity), size, ranks);
  Platform slow = platform;
  slow.mpi->message.rendezvous += *rc::gen::inRange(1, 100) * 1e-6_s;
  const Seconds after = time(*library_clock(mpi, operation, slow, placement, fidelity), size, ranks);
  RC_ASSERT(after >= before * (1 - 1e-9));
}

/// A broadcast from rank 0 to rank 1, which joins a second late: who sends an eager message is done before.
TEST(MpiMessages, AreEagerBelowTheLimitAndWaitForTheirReceiverFromItOn) {
  Platform platform = with_both(1);
  platform.devices_per_node = 8;
  const Placement placement = in_order(2);
  RankTimes start = RankTimes::Zero(2);
  start[1] = 1;
  for (const char* mpi : mpis) {
    for (const Fidelity fidelity : all_fidelities) {
      auto clock = library_clock(mpi, Operation::broadcast, platform, placement, fidelity);
      EXPECT_LT(clock->completion_times(16_KiB - 1_B, start)[0], 1e-3) << mpi << ' ' << name(fidelity);
      EXPECT_GT(clock->completion_times(16_KiB, start)[0], 1) << mpi << ' ' << name(fidelity);
      EXPECT_NEAR(clock->completion_times(16_KiB, start)[1], 1 + 1e-6 + 2e-6 + 5e-6 + 16384 / 300e9, 1e-9) << mpi;
    }
  }
}

TEST(MpiMessages, AreAnnouncedAsTheMpiThatThePlatformNamesDoesByThatOneAlone) {
  Platform platform = with_both(1);
  platform.mpi->handshakes = open_mpi_over_tcp;
  EXPECT_TRUE(mpi_transport("openmpi-4", platform).handshakes);
  EXPECT_FALSE(mpi_transport("mpich", platform).handshakes);
  platform.mpi->library = "mpich";
  EXPECT_TRUE(mpi_transport("mpich-3", platform).handshakes);
}

}}  // namespace farandole::mpi_messages_test
