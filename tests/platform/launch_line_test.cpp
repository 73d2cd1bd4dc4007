// Launch lines as manuals have them and batch scripts.
#include <gmock/gmock.h>

#include "platform/launch_samples.hpp"

namespace farandole::launch_line_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Horovodrun, SetsRanksAndHosts) {
  const auto line = line_of("horovodrun -np 16 -H server1:4,server2:4,server3:4,server4:4 python train.py");
  EXPECT_EQ(line.launcher, "horovodrun");
  EXPECT_EQ(line.ranks, 16);
  EXPECT_THAT(hosts_of(line), ElementsAre("server1:4", "server2:4", "server3:4", "server4:4"));
  EXPECT_THAT(line.environment, IsEmpty());
  EXPECT_THAT(line.ignored, IsEmpty());
  EXPECT_FALSE(line.ranks_per_node.has_value());
}

TEST(Horovodrun, TurnsItsTuningOptionsIntoTheVariablesTheySet) {
  const auto line = line_of(
      "horovodrun --num-proc 4 --hosts localhost:4 --fusion-threshold-mb 32 --cycle-time-ms=3.5 --cache-capacity 0 "
      "--timeline-filename /tmp/t.json --timeline-mark-cycles --no-hierarchical-allreduce "
      "--gloo --num-nccl-streams 2 python train.py");
  EXPECT_THAT(line.environment,
              UnorderedElementsAre(Pair("HOROVOD_FUSION_THRESHOLD", "33554432"),  // 32 * 1024 * 1024
                                   Pair("HOROVOD_CYCLE_TIME", "3.5"), Pair("HOROVOD_CACHE_CAPACITY", "0"),
                                   Pair("HOROVOD_TIMELINE", "/tmp/t.json"), Pair("HOROVOD_TIMELINE_MARK_CYCLES", "1"),
                                   Pair("HOROVOD_HIERARCHICAL_ALLREDUCE", "0"), Pair("HOROVOD_CONTROLLER", "gloo"),
                                   Pair("HOROVOD_NUM_NCCL_STREAMS", "2")));
  EXPECT_THAT(line.ignored, IsEmpty());
}

TEST(Horovodrun, NamesWhatMeansNothingHere) {
  const auto line = line_of(
      "horovodrun --verbose -p 12345 --autotune --autotune-log-file /tmp/a.csv --network-interface eth0 "
      "--hostfile hosts -np 2 python train.py --np 8 -H nowhere:9");
  EXPECT_EQ(line.ranks, 2);
  EXPECT_THAT(line.hosts, IsEmpty());
  EXPECT_THAT(line.ignored, ElementsAre("--verbose", "-p 12345", "--autotune", "--autotune-log-file /tmp/a.csv",
                                        "--network-interface eth0", "--hostfile hosts"));
}

TEST(Mpirun, ReadsTheLineOfTheHorovodManualWithItsContinuations) {
  const auto line = line_of(
      "$ mpirun -np 16 \\\n"
      "    -H server1:4,server2:4,server3:4,server4:4 \\\n"
      "    -bind-to none -map-by slot \\  \n"
      "    -x NCCL_DEBUG=INFO -x LD_LIBRARY_PATH -x PATH -x HOROVOD_CYCLE_TIME=3.5 \\\n"
      "    -mca pml ob1 -mca btl ^openib \\\n"
      "    python train.py\n");
  EXPECT_EQ(line.launcher, "mpirun");
  EXPECT_EQ(line.ranks, 16);
  EXPECT_THAT(hosts_of(line), ElementsAre("server1:4", "server2:4", "server3:4", "server4:4"));
  EXPECT_THAT(line.environment, ElementsAre(Pair("HOROVOD_CYCLE_TIME", "3.5")));
  EXPECT_THAT(line.ignored, ElementsAre("-bind-to none", "-map-by slot", "-x NCCL_DEBUG=INFO", "-x LD_LIBRARY_PATH",
                                        "-x PATH", "-mca pml ob1", "-mca btl ^openib"));
  EXPECT_FALSE(line.by_node);
}

TEST(Mpirun, TakesSettingsBeforeItAndExportsThem) {
  const auto line = line_of(
      "HOROVOD_TIMELINE=\"/my results/t.json\" NCCL_DEBUG=INFO /usr/local/bin/mpirun --allow-run-as-root -n 4 "
      "-x HOROVOD_TIMELINE -x HOROVOD_AUTOTUNE python train.py");
  EXPECT_THAT(line.environment, ElementsAre(Pair("HOROVOD_TIMELINE", "/my results/t.json")));
  EXPECT_THAT(line.ignored, ElementsAre("NCCL_DEBUG=INFO", "--allow-run-as-root", "-x HOROVOD_AUTOTUNE"));
}

TEST(Mpirun, KnowsItsWaysToSayRanksPerNode) {
  for (const auto* option : {"-npernode 4", "--npernode 4", "-N 4", "--map-by ppr:4:node", "-map-by ppr:4:node:PE=8",
                             "-ppn 4", "-perhost 4", "--npernode=4"}) {
    SCOPED_TRACE(option);
    const auto line = line_of("mpirun -np 6 " + std::string(option) + " python train.py");
    EXPECT_EQ(line.ranks_per_node, 4);
    EXPECT_EQ(line.ranks, 6);
  }
  EXPECT_EQ(line_of("mpirun -np 3 -pernode a.out").ranks_per_node, 1);
}

TEST(Mpirun, RanksPerNodeLimitTheSlotsOfHosts) {
  EXPECT_THAT(hosts_of(line_of("mpirun -npernode 2 -H a:4,b:4 x")), ElementsAre("a:2", "b:2"));
  EXPECT_EQ(line_of("mpirun -npernode 2 -H a:4,b:4 x").ranks, 4);
  EXPECT_THAT(hosts_of(line_of("mpiexec.hydra -n 8 -ppn 4 -hosts a,b x")), ElementsAre("a:4", "b:4"));
}

TEST(Mpirun, DealsRanksToNodesInTurnWhenToldSo) {
  for (const auto* option : {"--map-by node", "-bynode", "-map-by node:PE=2"}) {
    EXPECT_TRUE(line_of("mpirun -np 4 -H a:2,b:2 " + std::string(option) + " x").by_node) << option;
  }
}

TEST(Mpirun, ReadsHydraSettings) {
  const auto line = line_of("mpiexec -genv HOROVOD_CYCLE_TIME 5 -genv OMP_NUM_THREADS=4 -env A B -n 2 ./train");
  EXPECT_THAT(line.environment, ElementsAre(Pair("HOROVOD_CYCLE_TIME", "5")));
  EXPECT_THAT(line.ignored, ElementsAre("-genv OMP_NUM_THREADS=4", "-env A B"));
  EXPECT_EQ(line.launcher, "mpirun");
}

TEST(Aprun, SetsRanksAndRanksPerNode) {
  const auto line =
      line_of("aprun -n 128 -N 4 -cc depth -j 1 -d 32 -b -e HOROVOD_FUSION_THRESHOLD=0 -e OMP=3 python t.py");
  EXPECT_EQ(line.launcher, "aprun");
  EXPECT_EQ(line.ranks, 128);
  EXPECT_EQ(line.ranks_per_node, 4);
  EXPECT_THAT(line.environment, ElementsAre(Pair("HOROVOD_FUSION_THRESHOLD", "0")));
  EXPECT_THAT(line.ignored, ElementsAre("-cc depth", "-j 1", "-d 32", "-b", "-e OMP=3"));
}

TEST(Aprun, ReadsNumbersThatTouchTheirOption) {
  const auto line = line_of("aprun -n128 -N4 -d64 -j2 --cc depth python t.py");
  EXPECT_EQ(line.ranks, 128);
  EXPECT_EQ(line.ranks_per_node, 4);
  EXPECT_THAT(line.ignored, ElementsAre("-d 64", "-j 2", "--cc depth"));
}

TEST(LaunchLine, IsPlacedAsItSays) {
  const auto devices = [](std::string_view text) {
    return place(line_of(text), {}, {4, {}, 0}, anywhere()).device_of_rank;
  };
  EXPECT_THAT(devices("horovodrun -np 3 -H a:2,b:2 x"), ElementsAre(0, 1, 4));
  EXPECT_THAT(devices("mpirun -np 3 -bynode -H a:2,b:2 x"), ElementsAre(0, 4, 1));
  EXPECT_THAT(devices("aprun -n 5 -N 2 x"), ElementsAre(0, 1, 4, 5, 8));
  EXPECT_THAT(devices("mpirun -np 5 x"), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(message_of([&] { devices("aprun -n 10 -N 5 x"); }),
              testing::HasSubstr("expected at most 4 ranks on a node, one per device, got 5 on each node"));
}

TEST(LaunchLine, TakesItsNodesFromAPlacementThatDoesNotContradictIt) {
  const auto devices = [](std::string_view text, const PlacementRule& rule) {
    return place(line_of(text), rule, {4, 9, 0}, anywhere()).device_of_rank;
  };
  PlacementRule later;
  later.first_node = 2;
  EXPECT_THAT(devices("aprun -n 5 -N 2 x", later), ElementsAre(8, 9, 12, 13, 16));
  EXPECT_THAT(devices("mpirun -np 3 -bynode -H a:2,b:2 x", later), ElementsAre(8, 12, 9));
  PlacementRule by_slot;
  by_slot.order = PlacementRule::Order::by_slot;
  EXPECT_THAT(message_of([&] { devices("mpirun -np 3 -bynode -H a:2,b:2 x", by_slot); }),
              testing::HasSubstr("a placement in the order of the launch line, by_node"));
  PlacementRule three;
  three.ranks_per_node = 3;
  EXPECT_THAT(message_of([&] { devices("aprun -n 5 -N 2 x", three); }),
              testing::HasSubstr("the 2 ranks per node of the launch line, got 3"));
}

}}  // namespace farandole::launch_line_test
