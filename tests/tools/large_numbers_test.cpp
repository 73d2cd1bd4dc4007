// One number that is far too large: a line that says which, status 2, at once; never a crash or a wrong answer.
#include <algorithm>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::large_numbers_test { namespace {

using testing::HasSubstr;

const std::string base = R"({"name": "n", "workload": {"model": "resnet18", "batch_per_rank": 32},
  "platform": {"topology": "ethernet-25g", "ranks": 8}, "strategy": {"kind": "ddp"},
  "measure": {"iterations": 3, "warmup": 0}})";

class LargeNumber : public testing::Test {
 protected:
  [[nodiscard]] Finished run(const std::string& settings) const {
    place_.write("s.json", base);
    std::string line = "run s.json --quiet --format json";
    for (std::size_t at = 0; at < settings.size();) {
      const std::size_t end = std::min(settings.find(' ', at), settings.size());
      line += " --set '" + settings.substr(at, end - at) + "'";
      at = end + 1;
    }
    return place_.run("ulimit -v 4000000; timeout 60 " FARANDOLE_PROGRAM " " + line);
  }
  [[nodiscard]] std::string refusal_of(const Finished& finished) const {
    EXPECT_EQ(finished.status, 2) << finished.err << finished.out;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
    EXPECT_EQ(finished.out, "");
    return finished.err;
  }
  [[nodiscard]] std::string refusal(const std::string& settings) const { return refusal_of(run(settings)); }
  [[nodiscard]] std::string command(const std::string& line) const {
    return refusal_of(place_.run("ulimit -v 4000000; timeout 60 " FARANDOLE_PROGRAM " " + line));
  }

  /// Where a value has spaces, '!' stands for them.
  [[nodiscard]] std::string refusal_with_spaces(std::string settings) const {
    place_.write("s.json", base);
    std::ranges::replace(settings, '!', ' ');
    return command("run s.json --quiet --format json --set '" + settings + "'");
  }

  Workplace place_;
};

// next - slowest <= bound: no worker is further ahead than the whole run is long.
TEST_F(LargeNumber, AsTheBoundOfStalenessIsNoBoundAtAll) {
  const std::string server = R"(/strategy={"kind":"parameter_server","mode":"stale_synchronous","bound":)";
  const Finished largest = run(server + "2147483647}");
  ASSERT_EQ(largest.status, 0) << largest.err;
  EXPECT_EQ(nlohmann::json::parse(largest.out)["points"][0]["iteration_seconds"],
            nlohmann::json::parse(run(server + "1000}").out)["points"][0]["iteration_seconds"]);
}

TEST_F(LargeNumber, OfPassesIsRefused) {
  EXPECT_THAT(refusal(R"(/workload={"model":"resnet18","global_batch":2147483647} /strategy/accumulation=1073741824)"),
              HasSubstr("/strategy/accumulation: expected an integer from 1 to 1,000,000, got 1073741824"));
  EXPECT_THAT(refusal("/strategy/accumulation=134217728 /effects={\"input\":{\"storage_samples_per_second\":1000}}"),
              HasSubstr("/strategy/accumulation"));
  EXPECT_THAT(refusal("/workload/batch_per_rank=1000000 /strategy/accumulation=1000000"),
              HasSubstr("samples of a rank in a step"));
  EXPECT_THAT(refusal(R"(/workload={"model":"resnet18","global_batch":2147483647} /strategy/accumulation=1000000)"),
              HasSubstr("8000000 passes of 8 ranks share evenly, got 2147483647"));
}

// All ranks together get no more than the storage gives, however many samples a step has.
TEST_F(LargeNumber, OfPassesDoesNotLoseTheStorage) {
  const Finished finished =
      run("/workload/batch_per_rank=1 /strategy/accumulation=1000000 /measure/iterations=1 "
          "/effects={\"input\":{\"storage_samples_per_second\":1000}}");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_LE(nlohmann::json::parse(finished.out)["points"][0]["samples_per_second"].get<double>(), 1000 * (1 + 1e-9));
}

TEST_F(LargeNumber, OfRanksIsRefusedBeforeThereIsAHostForEach) {
  EXPECT_THAT(command("collective --topology ethernet-25g --ranks 1000000000"),
              HasSubstr("farandole: --ranks: expected at most 4,194,304 ranks, got 1,000,000,000"));
  EXPECT_THAT(refusal("/platform/ranks=2147483647"), HasSubstr("at most 4,194,304 ranks"));
}

TEST_F(LargeNumber, OfSegmentsIsRefused) {
  for (const char* algorithm :
       {"broadcast --algorithm chain", "broadcast --algorithm double_tree", "allreduce --algorithm segmented_ring"}) {
    EXPECT_THAT(
        command(std::string("collective --topology ethernet-25g --ranks 4 --segments 2147483647 --op ") + algorithm),
        HasSubstr("--segments: expected a whole number of at most 16,384"));
  }
}

TEST_F(LargeNumber, OfAnythingThatIsSimulatedOneByOneIsRefused) {
  EXPECT_THAT(refusal("/measure/iterations=2147483647"), HasSubstr("/measure/iterations: expected an integer from 1"));
  EXPECT_THAT(refusal("/measure/warmup=2147483647"), HasSubstr("/measure/warmup"));
  EXPECT_THAT(refusal("/measure/seeds=2147483647"), HasSubstr("/measure/seeds"));
  EXPECT_THAT(refusal("/strategy={\"kind\":\"local_sgd\",\"period\":2147483647}"), HasSubstr("/strategy/period"));
  EXPECT_THAT(refusal("/strategy/streams=2147483647"), HasSubstr("/strategy/streams"));
  EXPECT_THAT(refusal("/effects={\"input\":{\"storage_samples_per_second\":9,\"prefetch\":2147483647}}"),
              HasSubstr("/effects/input/prefetch"));
  EXPECT_THAT(refusal("/strategy={\"kind\":\"parameter_server\",\"servers\":2147483647,\"colocated\":true}"),
              HasSubstr("/strategy/servers"));
  EXPECT_THAT(refusal("/strategy/compression={\"kind\":\"power_sgd\",\"rank\":2147483647}"),
              HasSubstr("/strategy/compression/rank"));
}

// One number for each event of a simulation within the simulation: nodes that fail, traffic that comes and goes.
TEST_F(LargeNumber, OfEventsEndsTheSimulation) {
  const std::string failing =
      R"(/run={"samples":60000,"epochs":1000000,"failures":{"node_mtbf":"1!s","recovery":"elastic","repair":"1!s","least_nodes":1,"restart":"0!s","simulations":1000000}})";
  EXPECT_THAT(refusal_with_spaces(failing), HasSubstr("/run/failures: expected runs of at most 20 million failures"));
  const std::string traffic =
      R"(/platform={"topology":"roce25-4xp100","ranks":8,"scale":{"latency":4294967296},"traffic":[{"kind":"on_off","links":"node1/nic0","rate":"1!GB/s","on":"1!us","off":"1!us"}]})";
  EXPECT_THAT(
      refusal_with_spaces(traffic),
      HasSubstr("/platform/traffic/0: expected \"on\" and \"off\" of no more than 2,000,000 turns while the job runs"));
}

TEST_F(LargeNumber, OfHorovodsCacheIsRefused) {
  for (const char* capacity : {"1e15", "2147483648", "0.5", "nan"}) {
    EXPECT_THAT(refusal(R"(/strategy={"kind":"horovod","settings":{"HOROVOD_CACHE_CAPACITY":")" +
                        std::string(capacity) + "\"}}"),
                HasSubstr("HOROVOD_CACHE_CAPACITY"));
  }
}

TEST_F(LargeNumber, InAMeasurementIsRefused) {
  const auto points = [&](const std::string& ranks, const std::string& seconds) {
    place_.write("p.json", R"({"points": [{"op": "allreduce", "algorithm": "ring", "ranks": )" + ranks +
                               R"(, "bytes": 1024, "seconds": )" + seconds + "}]}");
    return command("calibrate p.json --topology ethernet-25g --output out.json");
  };
  EXPECT_THAT(points("2147483647", "1"), HasSubstr("p.json:1: /points/0"));
  EXPECT_THAT(points("65536", "1"), HasSubstr("at most 32,768 ranks in a measurement"));
  EXPECT_THAT(points("4", "1e300"), HasSubstr("/points/0/seconds: expected a time from 1 ps to 3 years"));
  EXPECT_THAT(points("4", "1e-300"), HasSubstr("/points/0/seconds: expected a time from 1 ps to 3 years"));
  place_.write("osu.txt", "# OSU MPI Allreduce Latency Test v5.8\n# Size  Avg Latency(us)\n1024  1e300\n");
  EXPECT_THAT(command("validate osu.txt --topology ethernet-25g --ranks 4"),
              HasSubstr("osu.txt:3: expected a time from 1 ps"));
}

TEST_F(LargeNumber, InANameIsRefusedWithoutWordsFromInside) {
  EXPECT_THAT(refusal("/workload/model=" + std::string(300, 'm') + ".json"), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal("/platform/topology=" + std::string(300, 't') + ".json"), HasSubstr("there is no such file"));
}

}}  // namespace farandole::test::large_numbers_test
