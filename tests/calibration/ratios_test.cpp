// Measured differences between published runs beside what is predicted of them from one of the two.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "calibration/published.hpp"
#include "scenario/anchor.hpp"
#include "scenario/train.hpp"

namespace farandole::ratios_test { namespace {

RatioPairs ratios_of_files(const std::vector<std::string>& files) {
  RatioPairs ratios;
  PublishedRequest request{files, {}, {}};
  request.ratios = &ratios;
  validate_published(Catalogue(), request);
  return ratios;
}

std::ptrdiff_t count(const RatioPairs& ratios, const std::string& kind) {
  return std::ranges::count(ratios.pairs, kind, &RatioPair::kind);
}

// Two models on one, two, four and eight GPUs: six pairs of each model, four of both models on as many.
TEST(Ratios, AreOfAllPairsThatDifferInOneKindOfThing) {
  const RatioPairs ratios = ratios_of_files({"tf-2017-dgx1"});
  EXPECT_EQ(ratios.pairs.size(), 16U);
  EXPECT_EQ(count(ratios, "ranks"), 12);
  EXPECT_EQ(count(ratios, "model"), 4);
  EXPECT_TRUE(ratios.left_out.empty());
  for (const RatioPair& pair : ratios.pairs) {
    EXPECT_EQ(pair.devices == 1, pair.kind == "model");
    if (pair.kind == "ranks") {
      EXPECT_NEAR(pair.predicted, pair.measured, 0.06) << pair.from << pair.to;
    }
    EXPECT_LE(pair.said.sure, 0.95);
    EXPECT_LE(pair.said.band.low, pair.predicted);
    EXPECT_GE(pair.said.band.high, pair.predicted);
  }
}

// BERT-large on the same eight A100: PaddlePaddle does twice as much as TensorFlow 2, of which no scenario says
// anything.
TEST(Ratios, AreOfTwoFrameworksOnlyWhereTheDevicesMeasurementsTellThemApart) {
  for (const RatioPair& pair : ratios_of_files({"nvidia-paddle-bert", "nvidia-tensorflow2-bert"}).pairs) {
    EXPECT_EQ(pair.from.substr(0, pair.from.find(':')), pair.to.substr(0, pair.to.find(':')));
  }
  const RatioPairs apart = ratios_of_files({"nvidia-mxnet-dgx1", "nvidia-tensorflow1-dgx1"});
  EXPECT_GT(count(apart, "program"), 0);
}

// 2,073.3 images/s of Inception V3 and 1,338.3 of ResNet-101 over TCP, 2,073.1 and 1,446.3 over RDMA; VGG-16 is fitted.
TEST(Ratios, OfANetworkAreWhatAUserGetsWhoMeasuredOverTheOther) {
  const RatioPairs ratios = ratios_of_files({"horovod-2017-16gpu-mpi"});
  EXPECT_EQ(count(ratios, "network"), 2);
  EXPECT_EQ(count(ratios, "model"), 2);
  EXPECT_EQ(ratios.left_out.at("a number is fitted to it"), 1);
  const auto pair = std::ranges::find_if(ratios.pairs, [](const RatioPair& one) {
    return one.kind == "network" && one.from.find("resnet101") != std::string::npos;
  });
  EXPECT_NEAR(pair->measured, 1446.3 / 1338.3, 1e-9);
  const Catalogue catalogue;
  for (const PublishedRow& row : published_rows(catalogue)) {
    if (row.family != "horovod-2017-16gpu-mpi" || row.samples_per_second != 1338.3) continue;
    Document mine = row.scenario;
    mine.set("/workload/measured", R"([{"ranks": 16, "samples_per_second": 1338.3}])");
    mine = anchored(mine, catalogue);
    mine.set("/platform/topology", "roce25-4xp100");
    const TrainingPoint point = train(read_scenario(mine.root(), catalogue), nullptr);
    EXPECT_NEAR(pair->predicted, point.samples_per_second / 1338.3, 1e-6);
  }
}

TEST(Ratios, RowsThatAreInNoPairSayWhy) {
  const RatioPairs ratios = ratios_of_files({"tf-benchmarks-issue-397", "horovod-issue-288"});
  EXPECT_EQ(ratios.left_out.at("neither the batch nor the network is stated"), 6);
  EXPECT_EQ(ratios.left_out.at("no other row of its source differs in one thing alone"), 1);
}

}}  // namespace farandole::ratios_test
