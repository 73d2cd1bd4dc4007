// What would run for ever, or fill the memory, is refused before it runs, with the number that is too large.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "support/source_folder.hpp"
#include "tools/process.hpp"

namespace farandole::test::budget_test { namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OverBudget : public testing::Test {
 protected:
  [[nodiscard]] std::string refusal(const std::string& line) const {
    const Finished finished = place_.run("ulimit -v 2000000; timeout 60 " FARANDOLE_PROGRAM " " + line);
    EXPECT_EQ(finished.status, 2) << line << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    EXPECT_EQ(finished.out, "");
    return finished.err;
  }
  /// What is said of a scenario with this sweep and these numbers.
  [[nodiscard]] std::string of(const std::string& settings, const std::string& rest = "") const {
    place_.write("s.json", R"({"name": "n", "workload": {"model": "resnet50", "batch_per_rank": 32},
      "platform": {"topology": "ethernet-25g", "ranks": 8}, "strategy": {"kind": "ddp"}, "measure": {)" +
                               settings + "}" + rest + "}");
    return refusal("run s.json --quiet");
  }
  static constexpr const char* base =
      R"({"name": "n", "workload": {"model": "linear_regression", "batch_per_rank": 32},
      "platform": {"topology": "ethernet-25g", "ranks": 8}, "strategy": {"kind": "ddp"}, "measure": {"iterations": 3}})";
  static constexpr const char* collective = "collective --topology ethernet-25g -b 1K -e 1K ";

  Workplace place_;
};

TEST_F(OverBudget, AreManyIterationsWarmUpsAndSeeds) {
  EXPECT_THAT(
      of(R"("iterations": 1000000)"),
      AllOf(
          HasSubstr("s.json:2: /measure/iterations: expected what a --budget of 30 s allows, got 1,000,000 iterations"),
          HasSubstr("allows it")));
  EXPECT_THAT(of(R"("warmup": 1000000)"), HasSubstr("/measure/warmup: expected what a --budget"));
  EXPECT_THAT(of(R"("seeds": 100000)"), HasSubstr("/measure/seeds: expected what a --budget"));
}

TEST_F(OverBudget, AreManyPointsBeforeThereIsOneOfThem) {
  std::string seeds = "1";
  for (int seed = 2; seed < 99999; ++seed) seeds += "," + std::to_string(seed);
  EXPECT_THAT(of("", R"(, "sweep": {"/measure/seed": [)" + seeds + "]}"),
              HasSubstr("/sweep: expected what a --budget"));
  EXPECT_THAT(of(R"("iterations": 50000)", R"(, "sweep": {"/measure/seed": [1, 2, 3, 4, 5, 6, 7, 8, 9]})"),
              AllOf(HasSubstr("/sweep: expected what a --budget"), HasSubstr("points or more")));
}

// Alike on one switch they are worked out for one rank; between groups of a dragonfly every pair has ways of its own.
TEST_F(OverBudget, AreRoundsInWhichReceiversMoveOnlyWhereNoRanksAreAlike) {
  const std::string rounds = "collective --op alltoall --algorithm pairwise --ranks 4096 -b 100000000 -e 100000000 ";
  EXPECT_THAT(refusal(rounds + "--topology theta"), HasSubstr("got 16,773,120 messages between 4,096 ranks"));
  for (const char* fidelity : {"analytic", "flow", "message"}) {
    const Finished finished =
        place_.run("ulimit -t 5; " FARANDOLE_PROGRAM " " + rounds + "--topology ethernet-25g --fidelity " + fidelity);
    EXPECT_EQ(finished.status, 0) << fidelity << finished.err;
  }
}

// What no number tells beforehand is ended once it has taken as much: on Aurora every round of oneCCL's exchange
// between nodes has ways and rates of its own; messages of narrow groups meet gradients in the node, one by one; an
// explanation tries hierarchies and trees, whose messages are sent one by one where ranks differ; traffic comes and
// goes.
TEST_F(OverBudget, IsWhatNobodyExpectedToTakeThatLong) {
  const std::string aurora = R"({"name": "n", "workload": {"model": "gpt2_small", "batch_per_rank": 1},
    "platform": {"topology": "aurora", "ranks": 12000}, "strategy": {"kind": "fsdp"}, "measure": {"iterations": 3}})";
  const std::string narrow = R"({"name": "n", "workload": {"model": "llama3_8b", "batch_per_rank": 1},
    "platform": {"topology": "dgx-h100", "ranks": 512}, "strategy": {"kind": "fsdp", "tensor_parallel": 4},
    "measure": {"fidelity": "message"}})";
  const std::string traffic = R"({"name": "n", "workload": {"model": "llama3_2_1b", "batch_per_rank": 2},
    "platform": {"topology": "theta", "ranks": 16, "traffic": [{"kind": "on_off", "links": "*", "rate": "1 GB/s",
    "on": "1 ms", "off": "1 ms"}]}, "strategy": {"kind": "ddp"}})";
  for (const std::string& scenario : {aurora, narrow, traffic}) {
    place_.write("s.json", scenario);
    const std::string refused =
        "s.json: expected what a --budget of 1 s allows, got a point that takes more time of "
        "a processor; --budget \"10 s\" lets it go on\n";
    EXPECT_EQ(refusal("run s.json --quiet --budget '1 s'"), refused) << scenario;
    const std::string sweep = " --set '/sweep={\"/measure/seed\": [1, 2]}' --output o.csv --format csv";
    EXPECT_EQ(refusal("run s.json --quiet --budget '1 s'" + sweep), refused) << scenario;
    EXPECT_FALSE(std::filesystem::exists(place_.folder() / "o.csv"));
  }
}

TEST_F(OverBudget, IsAnExplanationAtMessageWhereManyRanksDifferButNotAtFlow) {
  // It tries hierarchies and trees, whose messages are sent one by one then: 512 ranks took minutes, unannounced.
  const std::string line = "run " + test::scenario("horovod-512-roce25") + " --explain --jobs 1 --quiet --fidelity ";
  EXPECT_THAT(refusal(line + "message --budget '3 s'"), HasSubstr("expected what a --budget of 3 s allows"));
  EXPECT_EQ(place_.farandole(line + "flow --set /sweep/~1workload~1model='[\"vgg16\"]'").status, 0);
}

TEST_F(OverBudget, AreManyRanks) {
  EXPECT_THAT(of("", R"(, "sweep": {"/platform/ranks": [4, 4000000]})"),
              HasSubstr("/platform/ranks: expected what a --budget of 1 GiB allows, got 4,000,000 ranks"));
  EXPECT_THAT(refusal(std::string(collective) + "--ranks 4000000"),
              HasSubstr("farandole: --ranks: expected what a --budget of 1 GiB"));
}

TEST_F(OverBudget, AreManyMessages) {
  EXPECT_THAT(refusal(std::string(collective) + "--ranks 65536 --op alltoall --no-fold"),
              HasSubstr("farandole: --ranks: expected what a --budget of 30 s"));
  EXPECT_THAT(refusal(std::string(collective) + "--ranks 65536 --fidelity message --no-fold"),
              HasSubstr("messages between 65,536 ranks"));
}

// 2,160 ranks of Polaris took 70 s and 4.4 GB; those of nccl-2.18, which are alike, a moment.
TEST_F(OverBudget, IsWhatAllSendToAllWhereALinkOfTheNetworkCountsForEach) {
  const std::string line = "collective --algorithm direct -b 1M -e 1M --ranks 1024 --topology ";
  EXPECT_THAT(refusal(line + "theta"), HasSubstr("got 2,095,104 messages between 1,024 ranks, which take about"));
  EXPECT_EQ(place_.farandole(line + "dgx-h100").status, 0);
  EXPECT_EQ(place_.farandole("collective --algorithm direct -b 1M -e 1M --ranks 4093 --topology dgx-h100").status, 0);
}

TEST_F(OverBudget, AreMessagesOfALibraryWhereNoRanksAreAlike) {
  const std::string line = "collective --op alltoall --topology polaris -b 1M -e 1M --ranks ";
  EXPECT_THAT(refusal(line + "2159"), HasSubstr("got 4,659,122 messages between 2,159 ranks"));
  const Finished finished = place_.run("ulimit -t 5; " FARANDOLE_PROGRAM " " + line + "2160");
  EXPECT_EQ(finished.status, 0) << finished.err;
  std::string newer = contents(test::source_folder() / "topologies/polaris.json");
  const std::string library = R"("library": "nccl-2.18")";
  newer.replace(newer.find(library), library.size(), R"("library": "nccl-2.21")");
  place_.write("newer.json", newer);
  EXPECT_THAT(refusal("collective --op alltoall --topology ./newer.json -b 1M -e 1M --ranks 2160"),
              HasSubstr("got 4,663,440 messages between 2,160 ranks"));
}

// On Aurora every round of oneCCL's exchange between nodes has ways and rates of its own: 1,536 ranks took 140 s.
TEST_F(OverBudget, AreShardsOfManyNodesWherePacketsChooseTheirWays) {
  const std::string scenario = R"({"name": "n", "workload": {"model": "gpt2_small", "batch_per_rank": 1},
      "platform": {"topology": "aurora", "ranks": RANKS}, "strategy": {"kind": "fsdp"}, "measure": {"iterations": 3}})";
  const auto with_ranks = [&](const std::string& ranks) {
    return std::string(scenario).replace(scenario.find("RANKS"), 5, ranks);
  };
  place_.write("s.json", with_ranks("768"));
  for (const char* more : {"--fidelity message", "--explain --set measure.iterations=20"})
    EXPECT_THAT(refusal("run s.json --quiet --budget '2 s' " + std::string(more)),
                HasSubstr("expected what a --budget of 2 s allows"));
  place_.write("s.json", with_ranks("192"));
  EXPECT_EQ(place_.run("ulimit -t 10; " FARANDOLE_PROGRAM " run s.json --quiet").status, 0);
}

// Stages have shards of their own, on ranks of their own.
TEST_F(OverBudget, AreShardsOfStagesOfAPipelineWhereTheyAreMany) {
  const auto ran = [&](const std::string& more) { return place_.run(FARANDOLE_PROGRAM " run s.json --quiet " + more); };
  place_.write("s.json", R"({"name": "n", "workload": {"model": "llama3_8b", "batch_per_rank": 1, "recompute": "full"},
    "platform": {"topology": "theta", "ranks": 8}, "strategy": {"kind": "fsdp", "pipeline": 2},
    "measure": {"iterations": 1}})");
  EXPECT_EQ(ran("").status, 0);
  EXPECT_EQ(ran("--set /platform/topology=aurora").status, 0);
  EXPECT_EQ(ran("--set /platform/topology=ethernet-25g --set /platform/override='{\"/node/device\": \"h100\"}' "
                "--fidelity message")
                .status,
            0);
  EXPECT_THAT(refusal("run s.json --quiet --budget '2 s' --set /platform/ranks=4096 --set /measure/iterations=1000"),
              HasSubstr("expected what a --budget"));
}

TEST_F(OverBudget, AreMessagesOfTensorGroupsThatShareNodes) {
  const std::string scenario = R"({"name": "n", "workload": {"model": "llama3_8b", "batch_per_rank": 1},
      "platform": {"topology": "dgx-h100", "ranks": 512}, "strategy": {"kind": "fsdp", "tensor_parallel": 4}})";
  place_.write("s.json", scenario);
  EXPECT_THAT(refusal("run s.json --quiet --budget '2 s' --fidelity message"), HasSubstr("--budget of 2 s allows"));
  EXPECT_EQ(place_.run("ulimit -t 5; " FARANDOLE_PROGRAM " run s.json --quiet --fidelity flow").status, 0);
}

// What a collective takes of the devices, each worker's own: then the slowest does not say it all, and all are
// simulated (36 s, of which nothing was said).
TEST_F(OverBudget, AreWorkersOfWhomTheSlowestDoesNotStandForAll) {
  const auto of_share = [](const std::string& share) {
    return R"({"name": "n", "workload": {"model": "resnet101", "batch_per_rank": 4},
      "platform": {"topology": "tcp25-4xp100", "ranks": 68},
      "strategy": {"kind": "parameter_server", "servers": 4, "colocated": true},
      "effects": {"communication_compute_share": ")" +
           share + R"("}})";
  };
  place_.write("s.json", of_share("10 %"));
  EXPECT_THAT(refusal("run s.json --quiet"), HasSubstr("expected what a --budget of 30 s allows"));
  place_.write("s.json", of_share("0 %"));
  EXPECT_EQ(place_.run("ulimit -t 10; " FARANDOLE_PROGRAM " run s.json --quiet").status, 0);
}

// Shards over a node that is not full: every message of every gather meets all others, in every iteration.
TEST_F(OverBudget, AreShardsOfWhichNoRankStandsForAnotherMessageByMessage) {
  const auto over = [](int ranks) {
    return fmt::format(R"({{"name": "n", "workload": {{"model": "resnet50", "batch_per_rank": 2}},
      "platform": {{"topology": "aurora", "ranks": {}}}, "strategy": {{"kind": "fsdp"}},
      "measure": {{"fidelity": "message"}}}})",
                       ranks);
  };
  place_.write("s.json", over(70));
  EXPECT_THAT(refusal("run s.json --quiet --budget '5 s'"), HasSubstr("expected what a --budget of 5 s allows"));
  place_.write("s.json", over(66));
  EXPECT_EQ(place_.run("ulimit -t 20; " FARANDOLE_PROGRAM " run s.json --quiet").status, 0);
  // Groups side by side.
  place_.write("s.json", over(72));
  const std::string by_two = R"( --set '/strategy/tensor_parallel=2' --set '/workload/model="gpt2_small"')";
  EXPECT_EQ(
      place_
          .run("ulimit -t 40; " FARANDOLE_PROGRAM " run s.json --quiet --budget '40 s' --set /measure/iterations=5" +
               by_two)
          .status,
      0);
}

// Each is run a dozen times before anything else.
TEST_F(OverBudget, AreManyMeasuredRunsAndThoseOfManyRanks) {
  const auto measured = [&](int rows, int ranks) {
    std::string all;
    for (int row = 1; row <= rows; ++row) {
      all += fmt::format(R"({}{{"ranks": {}, "batch_per_rank": {}, "samples_per_second": 10}})", row > 1 ? "," : "",
                         ranks, row);
    }
    return R"(--set '/workload/measured=[)" + all + "]'";
  };
  place_.write("s.json", base);
  EXPECT_THAT(refusal("run s.json --quiet --set /measure/iterations=100 " + measured(1000, 8)),
              HasSubstr("/workload/measured: expected what a --budget of 30 s allows, got 1,000 measured runs"));
  EXPECT_THAT(refusal("run s.json --quiet " + measured(1, 100000)), HasSubstr("expected what a --budget of 30 s"));
}

// A run that goes on with fewer nodes is trained on as many as are left, each number once.
TEST_F(OverBudget, AreManyNodesOfWhichAnyNumberIsUnderRepair) {
  place_.write("s.json", R"({"name": "n", "workload": {"model": "resnet50", "batch_per_rank": 32},
    "platform": {"topology": "aws-p4d", "ranks": 4096}, "strategy": {"kind": "ddp"},
    "run": {"samples": 1000000000, "failures": {"node_mtbf": "1000 h", "recovery": "elastic", "detection": "30 s", "restart": "60 s", "repair": "1000 h"}}})");
  EXPECT_THAT(refusal("run s.json --quiet"), HasSubstr("/platform/ranks: expected what a --budget of 30 s allows"));
}

// A shard has at least one point, however many shards there are.
TEST_F(OverBudget, IsAPointThatNoShardCanRun) {
  place_.write("s.json", R"({"name": "n", "workload": {"model": "resnet50", "batch_per_rank": 32},
    "platform": {"topology": "ethernet-25g", "ranks": 8}, "strategy": {"kind": "ddp"},
    "measure": {"iterations": 1000000}, "sweep": {"/measure/seed": [1, 2]}})");
  EXPECT_THAT(refusal("run s.json --quiet --output o.json --shard 1/1000000"),
              HasSubstr("expected what a --budget of 30 s allows, got 1,000,000 iterations"));
}

// Powers of two from 1 to 32 times 2^25 do not fit into an int.
TEST_F(OverBudget, IsAPageOfManyRanksButNotOfALargeBatch) {
  place_.write("s.json", base);
  EXPECT_THAT(refusal("explore s.json --quiet --html o.html --set /platform/ranks=4000000"),
              HasSubstr("/platform/ranks: expected what a --budget of 1 GiB allows"));
  const Finished finished = place_.run("ulimit -t 20; " FARANDOLE_PROGRAM
                                       " explore s.json --quiet --html o.html --set /workload/batch_per_rank=33554432");
  EXPECT_NE(finished.status, 137) << finished.err;
  EXPECT_LE(finished.status, 2) << finished.err;
}

// What is refused says the budget that allows it.
TEST_F(OverBudget, MayBeAllowed) {
  static_cast<void>(of(R"("iterations": 30000)", R"(, "sweep": {"/measure/seed": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]})"));
  EXPECT_THAT(refusal("run s.json --quiet --budget '1 s'"), HasSubstr("expected what a --budget of 1 s allows"));
  EXPECT_EQ(place_.farandole("run s.json --quiet --budget '10 h' --set '/measure={\"iterations\": 2}'").status, 0);
  EXPECT_THAT(
      refusal("run s.json --quiet --budget '20 ms' --set /measure/iterations=1000"),
      AllOf(HasSubstr("expected what a --budget of 20 ms allows, got"), Not(HasSubstr("--budget \"20 ms\" allows"))));
  for (const char* wrong : {"abc", "1", "-1 s", "1 min, 2 min, 3", "1 GB/s", ""}) {
    EXPECT_THAT(refusal("run s.json --budget '" + std::string(wrong) + "'"),
                HasSubstr("farandole: --budget: expected a time"));
  }
}

// A million iterations take minutes, the others a moment.
TEST(PointTimeout, EndsAPointAndTheResultSaysSo) {
  const Workplace place;
  place.write("s.json", R"({"name": "n", "workload": {"model": "mnist_mlp", "batch_per_rank": 32},
    "platform": {"topology": "ethernet-25g", "ranks": 8}, "strategy": {"kind": "ddp"},
    "measure": {"iterations": 1}, "sweep": {"/measure/iterations": [1, 1000000, 2]}})");
  const std::string line =
      "run s.json --quiet --budget '10 h' --format json --output out.json --jobs 1 --point-timeout ";
  const Finished finished = place.farandole(line + "'500 ms'");
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err,
              HasSubstr("failed: /measure/iterations 1000000: it took longer than --point-timeout allows"));
  const auto written = nlohmann::json::parse(contents(place.folder() / "out.json"));
  EXPECT_EQ(written["points"].size(), 2U);
  EXPECT_EQ(written["failed"].size(), 1U);
  EXPECT_EQ(place.farandole(line + "'0 s'").status, 2);
  EXPECT_EQ(place.farandole(line + "x").status, 2);
}

TEST(PointTimeout, EndsTheOnlyPointToo) {
  const Workplace place;
  place.write("s.json", R"({"name": "n", "workload": {"model": "resnet50", "batch_per_rank": 32},
    "platform": {"topology": "ethernet-25g", "ranks": 8}, "strategy": {"kind": "ddp"}, "measure": {"iterations": 1000000}})");
  const Finished finished =
      place.farandole("run s.json --quiet --budget '10 h' --output out.json --point-timeout '300 ms'");
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "farandole: a point took longer than --point-timeout allows\n");
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "out.json"));
}

}}  // namespace farandole::test::budget_test
