// Algorithms on the command line: every row of the catalogue, roots, a user's own file, and pictures.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::algorithm_commands_test { namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* own_pair = R"({
  "name": "pair", "op": "allreduce", "ranks": 2, "chunks": 1,
  "phases": [{"name": "exchange", "transfers": [
    {"from": 0, "to": 1, "chunk": 0, "action": "reduce"},
    {"from": 1, "to": 0, "chunk": 0, "action": "reduce"}]}]
})";

TEST(CollectiveCommand, RunsEveryAlgorithmThatIsShown) {
  const Workplace place;
  const json rows = json::parse(place.farandole("show algorithms --format json").out).at("algorithms");
  EXPECT_GE(rows.size(), 27U);
  for (const json& row : rows) {
    const auto op = row.at("op").get<std::string>();
    const auto algorithm = row.at("name").get<std::string>();
    const std::string topology = algorithm.starts_with("oneccl") ? "aurora"  // of devices it runs on
                                 : algorithm.starts_with("rccl") ? "frontier"
                                                                 : "ethernet-25g";
    const Finished finished =
        place.farandole("collective -b 8K -e 8K --ranks 6 --format json --fidelity analytic --topology " + topology +
                        " --op " + op + " --algorithm " + algorithm);
    ASSERT_EQ(finished.status, 0) << finished.err;
    const json point = json::parse(finished.out).at("points").at(0);
    EXPECT_EQ(point.at("op"), op);
    EXPECT_GT(point.at("seconds"), 2e-6) << algorithm;
  }
}

TEST(CollectiveCommand, TakesTheFirstAlgorithmOfAnOperationUnlessOneIsGiven) {
  const Workplace place;
  const auto algorithm_of = [&](const std::string& operation) {
    const Finished finished =
        place.farandole("collective -b 1K -e 1K --topology ethernet-25g --ranks 4 --format json --op " + operation);
    return json::parse(finished.out).at("points").at(0).at("algorithm").get<std::string>();
  };
  EXPECT_EQ(algorithm_of("allreduce"), "ring");
  EXPECT_EQ(algorithm_of("broadcast"), "binomial");
  EXPECT_EQ(algorithm_of("parameter_server"), "dedicated");
}

TEST(CollectiveCommand, OfALibraryHasTheIntervalOfPublishedTablesByPlaceAndSizeAndWhatIsKnown) {
  const Workplace place;
  const auto factors_of = [&](const std::string& arguments) {
    const json point = json::parse(place.farandole("collective --format json " + arguments).out).at("points").at(0);
    const double time = point.at("seconds");
    return std::pair(point.at("band_low").get<double>() / time, point.at("band_high").get<double>() / time);
  };
  std::ifstream file(std::filesystem::path(FARANDOLE_SOURCE_DIR) / "topologies/errors/collectives.json");
  const json tables = json::parse(file);
  const auto expect = [&](const std::string& arguments, const json& ends) {
    const auto [low, high] = factors_of(arguments);
    EXPECT_NEAR(low, ends.at(0).get<double>(), 1e-9) << arguments;
    EXPECT_NEAR(high, ends.at(1).get<double>(), 1e-9) << arguments;
    EXPECT_TRUE(low <= 1 && 1 <= high) << arguments;
  };
  expect("--topology dgx-h100 --ranks 8 -b 1K -e 1K", tables.at("one node").at("cold").at(0));
  expect("--topology dgx-h100 --ranks 64 -b 1M -e 1M", tables.at("several nodes").at("cold").at(1));
  expect("--topology dgx-h100 --ranks 16 -b 1G -e 1G --op alltoall", tables.at("several nodes").at("cold").at(3));
  expect("--topology thetagpu --ranks 32 -b 4M -e 4M", tables.at("several nodes").at("measured").at(2));
}

TEST(CollectiveCommand, OfOneRankHasNoInterval) {
  const Workplace place;
  const Finished one = place.farandole("collective --topology dgx-h100 --ranks 1 -b 1K -e 1K --format json");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_FALSE(json::parse(one.out).at("points").at(0).contains("band_low"));
}

TEST(CollectiveCommand, OfANamedAlgorithmHasNoIntervalAsNoTableIsOfOne) {
  const Workplace place;
  const std::string arguments = "collective --topology dgx-h100 --ranks 8 -b 1K -e 1K --algorithm ring --format ";
  EXPECT_FALSE(json::parse(place.farandole(arguments + "json").out).at("points").at(0).contains("band_low"));
  EXPECT_THAT(place.farandole(arguments + "table").out, Not(HasSubstr("80 %")));
}

TEST(CollectiveCommand, SaysWhatALibraryPicked) {
  const Workplace place;
  const std::string arguments =
      "collective -b 1K -e 1M -f 1024 --topology ethernet-25g --ranks 4 --algorithm nccl-2.7 ";
  const json points = json::parse(place.farandole(arguments + "--format json").out).at("points");
  EXPECT_EQ(points.at(0).at("algorithm"), "nccl-2.7");
  // bus bandwidth of an allreduce = algorithm bandwidth * 2 (n - 1) / n
  EXPECT_DOUBLE_EQ(points.at(0).at("bus_bandwidth").get<double>(),
                   points.at(0).at("algorithm_bandwidth").get<double>() * 2 * 3 / 4);
  EXPECT_EQ(points.at(0).at("chosen_algorithm"), "ring");
  EXPECT_EQ(points.at(0).at("protocol"), "LL");
  EXPECT_EQ(points.at(1).at("protocol"), "Simple");
  EXPECT_EQ(points.at(1).at("channels"), 2);
  EXPECT_THAT(place.farandole(arguments).out, HasSubstr("protocol  channels"));
}

TEST(CollectiveCommand, NamesTheNearestReleaseOfALibrary) {
  const Workplace place;
  const auto refused = [&](const std::string& algorithm) {
    const Finished finished = place.farandole("collective --topology ethernet-25g --ranks 4 --algorithm " + algorithm);
    EXPECT_EQ(finished.status, 2);
    return finished.err;
  };
  EXPECT_THAT(refused("nccl-2.8"), HasSubstr("did you mean \"nccl-2.7\"?"));
  EXPECT_THAT(refused("nccl-2.21.5"), HasSubstr("did you mean \"nccl-2.21\"?"));
  EXPECT_THAT(refused("nccl-2.19.3"), HasSubstr("did you mean \"nccl-2.19\"?"));
  EXPECT_THAT(refused("nccl-2.17"), HasSubstr("did you mean \"nccl-2.18\"?"));
  EXPECT_THAT(refused("nccl-2.30"), HasSubstr("did you mean \"nccl-2.28\"?"));
  EXPECT_THAT(refused("openmpi-3.1"), HasSubstr("did you mean \"openmpi-4\"?"));
  EXPECT_THAT(refused("oneccl-2021.14"), HasSubstr("did you mean \"oneccl-2021.16\"?"));
  EXPECT_THAT(refused("library"), HasSubstr("nccl-2.3, nccl-2.5"));
}

/// From 64 MiB on, where the rates of datasheets and NCCL's tables tell; nothing is fitted to these tables.
TEST(CollectiveCommand, PredictsPublishedTablesOfLargeAllreducesWithinAThird) {
  const Workplace place;
  for (const std::string name : {"dgx-a100-8ranks", "dgx1-v100-8ranks", "thetagpu-16ranks"}) {
    std::ifstream in(FARANDOLE_SOURCE_DIR "/scenarios/published/collectives/" + name + ".json");
    const json table = json::parse(in);
    const json& points = table.at("points");
    const std::string arguments = "collective -b 4 -e 1G --fidelity analytic --format json --topology " +
                                  table.at("topology").get<std::string>() + " --algorithm " +
                                  table.at("library").get<std::string>() + " --ranks " +
                                  std::to_string(points.at(0).at("ranks").get<int>());
    const json predicted = json::parse(place.farandole(arguments).out).at("points");
    for (const json& point : points) {
      if (point.at("bytes") < 64 << 20) continue;
      const auto same =
          std::ranges::find_if(predicted, [&](const json& p) { return p.at("bytes") == point.at("bytes"); });
      const double error = same->at("seconds").get<double>() / point.at("seconds").get<double>() - 1;
      EXPECT_LT(std::abs(error), 0.33) << name << ' ' << point.at("bytes");
    }
  }
}

TEST(CollectiveCommand, ReportsBusBandwidthWithTheFactorsOfNcclTests) {
  const Workplace place;
  const auto factor = [&](const std::string& chosen) {
    const Finished finished =
        place.farandole("collective -b 1M -e 1M --topology ethernet-25g --ranks 8 --format json " + chosen);
    const json point = json::parse(finished.out).at("points").at(0);
    return point.at("bus_bandwidth").get<double>() / point.at("algorithm_bandwidth").get<double>();
  };
  EXPECT_NEAR(factor("--op allreduce --algorithm ring"), 2 * 7.0 / 8, 1e-12);
  EXPECT_NEAR(factor("--op reduce_scatter --algorithm ring"), 7.0 / 8, 1e-12);
  EXPECT_NEAR(factor("--op alltoall --algorithm pairwise"), 7.0 / 8, 1e-12);
  EXPECT_NEAR(factor("--op broadcast --algorithm chain --root 3"), 1, 1e-12);
}

TEST(CollectiveCommand, RefusesARootThatIsNoRank) {
  const Finished finished = Workplace().farandole(
      "collective --op broadcast --algorithm binomial --topology ethernet-25g --ranks 4 --root 4");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("--root"));
}

TEST(CollectiveCommand, TimesAnAlgorithmFromAFile) {
  const Workplace place;
  place.write("pair.json", own_pair);
  const Finished finished = place.farandole(
      "collective -b 1M -e 1M --topology ethernet-25g --ranks 2 --algorithm pair.json --format json --fidelity "
      "message");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json point = json::parse(finished.out).at("points").at(0);
  EXPECT_EQ(point.at("algorithm"), "pair");
  EXPECT_NEAR(point.at("seconds").get<double>(), 2e-6 + 1048576 * 8 / 25e9, 1e-12);
}

TEST(CollectiveCommand, RefusesAFilesAlgorithmThatIsWrongWithItsChunkAndRank) {
  const Workplace place;
  std::string wrong = own_pair;
  wrong.replace(wrong.rfind("reduce"), 6, "copy");
  place.write("pair.json", wrong);
  const Finished finished = place.farandole("collective --topology ethernet-25g --ranks 2 --algorithm pair.json");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("pair.json:1"));
  EXPECT_THAT(finished.err, HasSubstr("chunk 0 of rank 0"));
}

TEST(CollectiveCommand, RefusesAFileForAnotherNumberOfRanks) {
  const Workplace place;
  place.write("pair.json", own_pair);
  const Finished finished = place.farandole("collective --topology ethernet-25g --ranks 3 --algorithm pair.json");
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("an algorithm for 3 ranks"));
}

TEST(ShowCommand, SaysWhatEveryRankHoldsAfterEachRound) {
  const Finished finished = Workplace().farandole("show algorithm ring --op allreduce --ranks 4");
  EXPECT_THAT(finished.out, HasSubstr("rank 1 holds 0{1} 1{1} 2{1} 3{0+1}"));
  EXPECT_THAT(finished.out, HasSubstr("rank 3 holds 0{all} 1{all} 2{all} 3{all}"));
}

TEST(ShowCommand, DrawsAnAlgorithm) {
  const Workplace place;
  EXPECT_THAT(place.farandole("show algorithm bruck --op alltoall --ranks 5 --format svg").out, StartsWith("<svg "));
  const Finished page = place.farandole("show algorithm chain --op broadcast --ranks 5 --root 2 --format html");
  if (page.status == 0) {
    EXPECT_THAT(page.out, StartsWith("<!DOCTYPE html>"));
  } else {
    EXPECT_THAT(page.err, HasSubstr("install the package node-d3"));  // built without
  }
  EXPECT_EQ(place.farandole("show model vgg16 --format svg").status, 2);
}

TEST(ShowCommand, LooksIntoAnAlgorithmFromAFile) {
  const Workplace place;
  place.write("pair.json", own_pair);
  EXPECT_THAT(place.farandole("show algorithm pair.json").out,
              HasSubstr("rank 0 sends segment 0 to rank 1, which adds it"));
}

}}  // namespace farandole::test::algorithm_commands_test
