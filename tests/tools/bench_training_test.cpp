// farandole bench --training under mpirun: a scenario's iterations, run for real on this machine.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/mpi.hpp"

namespace farandole::test::bench_training_test { namespace {

using nlohmann::json;
using testing::HasSubstr;

/// 0.24 million parameters, some milliseconds of layers.
constexpr const char* small = R"({
  "name": "small",
  "workload": {"model": "mnist_mlp", "batch_per_rank": 4096, "assumed_efficiency": "5 %", "host_dispatch": "ready"},
  "platform": {"topology": "ethernet-10g", "ranks": 4},
  "strategy": {"kind": "ddp"},
  "measure": {"iterations": 2, "warmup": 1},
  "sweep": {"/platform/ranks": [2, 4, 8], "/strategy": [{"kind": "ddp"}, {"kind": "horovod"}, {"kind": "local_sgd", "period": 2}]}
})";

Finished replayed(const Workplace& place, int ranks, const std::string& options, const std::string& user = "") {
  place.write("small.json", small);
  return place.run(user + mpirun(ranks) + FARANDOLE_PROGRAM " bench --training small.json -n 3 -w 1 " + options);
}

/// The parts of the breakdown sum to the iteration, which is the mean of the repetitions; no iteration is shorter than
/// its layers.
void expect_measured(const json& point, int ranks) {
  EXPECT_EQ(point.at("fidelity"), "replay");
  EXPECT_EQ(point.at("backend"), "mpi");
  EXPECT_EQ(point.at("ranks"), ranks);
  EXPECT_EQ(point.at("data_correct"), true) << point;
  double sum = 0;
  for (const auto& [part, seconds] : point.at("breakdown").items()) sum += seconds.get<double>();
  EXPECT_NEAR(sum, point.at("iteration_seconds"), 1e-9);
  double mean = 0;
  const json& repetitions = point.at("repetitions");
  for (const json& seconds : repetitions) mean += seconds.get<double>() / static_cast<double>(repetitions.size());
  EXPECT_NEAR(mean, point.at("iteration_seconds"), 1e-9);
  EXPECT_GT(point.at("predicted_seconds"), 0);
  EXPECT_NEAR(point.at("error"),
              point.at("predicted_seconds").get<double>() / point.at("iteration_seconds_p50").get<double>() - 1, 1e-9);
  EXPECT_GT(point.at("collectives_per_iteration"), -1);
}

TEST(BenchTraining, WhereTheMachineHasALibraryThatNobodyAskedForAnAlgorithmIsReplayed) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const std::string options =
      "--format json --set /platform/topology=lab-star --set '/sweep={\"/platform/ranks\": [2]}'";
  const Finished finished = replayed(place, 2, options);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result.at("points").at(0).at("algorithm"), "ring");
  EXPECT_THAT(result.at("settings").at("collectives.allreduce").get<std::string>(),
              HasSubstr("ring instead of openmpi-4: a replay"));
  const Finished asked = replayed(place, 2, options + " --set '/collectives={\"allreduce\": \"library\"}'");
  EXPECT_EQ(asked.status, 2);
  EXPECT_THAT(asked.err, HasSubstr("expected an algorithm to replay"));
}

TEST(BenchTraining, RunsThePointsOfAScenarioThatSoManyRanksCan) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  for (const int ranks : {2, 4}) {
    const Finished finished = replayed(place, ranks, "--format json");
    ASSERT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("left out: 6 points of other numbers of ranks"));
    const json points = json::parse(finished.out).at("points");
    ASSERT_EQ(points.size(), 3U);
    for (const json& point : points) expect_measured(point, ranks);
    EXPECT_EQ(points[0].at("strategy"), "ddp");
    EXPECT_EQ(points[1].at("strategy"), "horovod");
    EXPECT_EQ(points[2].at("repetitions").size(), 4U);  // whole periods of two
  }
}

TEST(BenchTraining, RunsForAnOrdinaryUserToo) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = why_not_nobody(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  std::filesystem::permissions(place.folder(), std::filesystem::perms::others_all, std::filesystem::perm_options::add);
  const Finished finished = replayed(place, 2, "--format csv", as_nobody);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("mnist_mlp"));
}

TEST(BenchTraining, PrintsATableAndATimelineOfRank0) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished finished = replayed(place, 2, "--timeline trace.json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("predicted (ms)"));
  EXPECT_THAT(finished.out, HasSubstr("mpi.library"));
  const json trace = json::parse(contents(place.folder() / "trace.json"));
  const json& events = trace.at("traceEvents");
  EXPECT_TRUE(
      std::ranges::any_of(events, [](const json& event) { return event.value("name", "") == "MPI_ALLREDUCE"; }));
}

/// Two workers with a server each on their nodes, or with two on nodes of their own.
TEST(BenchTraining, RunsServersOfEveryMode) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const std::string two = "--format json --set '/sweep={\"/platform/ranks\": [2]}' --set '/strategy={";
  for (const char* mode : {R"("kind": "parameter_server")", R"("kind": "parameter_server", "mode": "asynchronous")",
                           R"("kind": "parameter_server", "mode": "stale_synchronous", "bound": 1)",
                           R"("kind": "distributed_replicated")"}) {
    for (const bool colocated : {true, false}) {
      const std::string where = fmt::format(R"(, "servers": 2, "colocated": {}}}')", colocated);
      const Finished finished = replayed(place, colocated ? 2 : 4, two + mode + where);
      ASSERT_EQ(finished.status, 0) << mode << finished.err;
      const json point = json::parse(finished.out).at("points").at(0);
      EXPECT_EQ(point.at("data_correct"), true) << mode;
      EXPECT_EQ(point.at("ranks"), 2);
      EXPECT_GT(point.at("predicted_seconds"), 0);
      double sum = 0;
      for (const auto& [part, seconds] : point.at("breakdown").items()) sum += seconds.get<double>();
      EXPECT_NEAR(sum / point.at("iteration_seconds").get<double>(), 1, 1e-9) << mode;
      EXPECT_GT(point.at("breakdown").at("exposed_communication"), 0) << mode;
    }
  }
}

/// All four ranks share everything, or two by two.
TEST(BenchTraining, RunsShardedStrategiesInTheirGroups) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const std::string four = "--format json --set '/sweep={\"/platform/ranks\": [4]}' --set '/strategy={";
  for (const char* strategy : {R"("kind": "fsdp"}')", R"("kind": "zero", "stage": 2}')",
                               R"("kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 2}')"}) {
    const Finished finished = replayed(place, 4, four + strategy);
    ASSERT_EQ(finished.status, 0) << strategy << finished.err;
    const json point = json::parse(finished.out).at("points").at(0);
    expect_measured(point, 4);
    double exposed = 0;
    for (const auto& [operation, seconds] : point.at("exposed").items()) exposed += seconds.get<double>();
    EXPECT_NEAR(exposed, point.at("breakdown").at("exposed_communication"), 1e-9);
    const bool has_groups = std::string(strategy).find("shard_group") != std::string::npos;
    EXPECT_EQ(point.at("exposed").at("allreduce") > 0, has_groups) << strategy;
  }
}

TEST(BenchTraining, RefusesWhatCannotBeRun) {
  if (const std::string why = why_not_mpi(); !why.empty()) GTEST_SKIP() << why;
  const Workplace place;
  const Finished ranks = replayed(place, 3, "");
  EXPECT_EQ(ranks.status, 2);
  EXPECT_THAT(ranks.err, HasSubstr("expected the 3 ranks that were started, got 8; --set /platform/ranks=3"));
  const auto with_servers = [&](const std::string& settings) {
    return replayed(place, 2,
                    "--set '/sweep={\"/platform/ranks\": [2]}' --set '/strategy={\"kind\": "
                    "\"parameter_server\", \"servers\": 1" +
                        settings + "}'");
  };
  const Finished servers = with_servers("");
  EXPECT_EQ(servers.status, 2);
  EXPECT_THAT(servers.err, HasSubstr("expected 1 ranks beside 1 servers, as 2 were started, got 2"));
  const Finished aggregating =
      replayed(place, 2,
               "--set '/sweep={\"/platform/ranks\": [2]}' --set /platform/topology=roce25-4xp100 --set "
               "'/strategy={\"kind\": \"parameter_server\", \"colocated\": true, \"aggregate_on_node\": true}'");
  EXPECT_EQ(aggregating.status, 2);
  EXPECT_THAT(aggregating.err, HasSubstr("/strategy/aggregate_on_node: expected workers that push by themselves"));
  const Finished both = replayed(place, 2, "--op allreduce");
  EXPECT_EQ(both.status, 2);
}

}}  // namespace farandole::test::bench_training_test
