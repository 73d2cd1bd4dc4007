// Whole tensors on parameter servers, as TensorFlow places them.
#include "collective/tensor_placement.hpp"

#include <numeric>
#include <span>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole::tensor_placement_test { namespace {

using testing::ElementsAre;

const std::vector<Bytes> six{40_B, 1_B, 2_B, 30_B, 3_B, 20_B};

Bytes sum_of(const std::vector<Bytes>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), Bytes(0));
}

std::vector<Bytes> bytes_per_server(std::span<const Bytes> tensors, const std::vector<int>& server_of_tensor,
                                    int servers) {
  std::vector<Bytes> result;
  for (const std::vector<Bytes>& shard : shards_of(tensors, server_of_tensor, servers)) {
    result.push_back(sum_of(shard));
  }
  return result;
}

/// Weights and biases in turn, as torchvision and TensorFlow list them (Simonyan and Zisserman, 2014, configuration D).
std::vector<Bytes> vgg16() {
  std::vector<Bytes> tensors;
  const auto add = [&](double inputs, double outputs) {
    tensors.emplace_back(4 * inputs * outputs);
    tensors.emplace_back(4 * outputs);
  };
  double channels = 3;
  for (const double next : {64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512, 512, 512}) {
    add(9 * channels, next);
    channels = next;
  }
  add(512 * 7 * 7, 4096);
  add(4096, 4096);
  add(4096, 1000);
  return tensors;
}

TEST(TensorPlacement, InTurnGivesTensorIToServerIModServers) {
  EXPECT_THAT(place_round_robin(six, 4), ElementsAre(0, 1, 2, 3, 0, 1));
}

TEST(TensorPlacement, BySizeGivesEachTensorToTheServerWithTheFewestBytesSoFar) {
  // Loads 40 0 | 40 1 | 40 3 | 40 33 | 40 36 | 40 56.
  EXPECT_THAT(place_by_size(six, 2), ElementsAre(0, 1, 1, 1, 1, 1));
  EXPECT_THAT(bytes_per_server(six, place_by_size(six, 2), 2), ElementsAre(40_B, 56_B));
}

TEST(TensorPlacement, OfVgg16HasOneHotShardWhicheverWayItIsMade) {
  // fc6 alone is 25088 * 4096 * 4 B of 553,430,176 B: 74 % of the model, and no placement of whole tensors cuts it.
  const std::vector<Bytes> tensors = vgg16();
  const Bytes fc6(25088.0 * 4096 * 4);
  ASSERT_EQ(sum_of(tensors), Bytes(553430176));
  for (const TensorPlacement& placement : tensor_placements()) {
    for (const int servers : {2, 4, 8, 16}) {
      const auto loads = bytes_per_server(tensors, placement.place(tensors, servers), servers);
      EXPECT_GE(std::ranges::max(loads), fc6) << placement.name << ", " << servers << " servers";
    }
  }
}

TEST(TensorPlacement, InTurnGivesAllWeightsToOneOfTwoServers) {
  // Weights and biases alternate: with an even number of servers, biases have servers of their own.
  const auto loads = bytes_per_server(vgg16(), place_round_robin(vgg16(), 2), 2);
  EXPECT_GT(loads[0], 10'000 * loads[1]);
}

TEST(TensorPlacement, IsFoundByName) {
  EXPECT_EQ(find_tensor_placement("by_size")->place, &place_by_size);
  EXPECT_EQ(find_tensor_placement("randomly"), nullptr);
  EXPECT_THAT(tensor_placement_names(), ElementsAre("round_robin", "by_size"));
}

TEST(TensorPlacement, OnNoServersIsRefused) {
  EXPECT_THROW(place_round_robin(six, 0), std::invalid_argument);
  EXPECT_THROW(place_by_size(six, -1), std::invalid_argument);
}

RC_GTEST_PROP(TensorPlacement, KeepsEveryByteAndBySizeIsWithinOneTensorOfEven, ()) {
  const auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 1'000'000));
  const int servers = *rc::gen::inRange(1, 20);
  std::vector<Bytes> tensors;
  for (const int number : numbers) tensors.emplace_back(number);
  for (const TensorPlacement& placement : tensor_placements()) {
    const auto server_of_tensor = placement.place(tensors, servers);
    const auto shards = shards_of(tensors, server_of_tensor, servers);
    RC_ASSERT(shards.size() == static_cast<std::size_t>(servers));
    RC_ASSERT(sum_of(bytes_per_server(tensors, server_of_tensor, servers)) == sum_of(tensors));
  }
  if (tensors.empty()) return;
  const auto loads = bytes_per_server(tensors, place_by_size(tensors, servers), servers);
  RC_ASSERT(std::ranges::max(loads) - std::ranges::min(loads) <= std::ranges::max(tensors));
}

}}  // namespace farandole::tensor_placement_test
