#include "training/memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farandole::memory_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Input of 10, a layer with 100 parameters and an output of 20, a ReLU on it in place.
Model small_model() {
  Layer dense{"dense", "linear", {{"weight", {100}}}, 0, 10, 20};
  Layer relu{"relu", "relu", {}, 0, 20, 20};
  return {"small", "", {dense, relu}};
}

Device device_of(Bytes memory) {
  Device device;
  device.memory = memory;
  return device;
}

TEST(Memory, IsTheSumOfWhatTrainingKeeps) {
  // fp32, momentum: 3 x 100 x 4 bytes; batch 2: 2 x (10 + 20) x 4 bytes; the ReLU works in place.
  const MemoryUse use = memory_use(small_model(), device_of(1_GiB), {Precision::fp32, 2, {"momentum", 1}, 50_B, 0_B});
  EXPECT_EQ(use.parameters, 400_B);
  EXPECT_EQ(use.gradients, 400_B);
  EXPECT_EQ(use.optimizer_state, 400_B);
  EXPECT_EQ(use.activations, 240_B);
  EXPECT_EQ(use.total(), Bytes(400 + 400 + 400 + 240 + 50));
}

TEST(Memory, AutocastKeepsGradientsInSinglePrecision) {
  // 4 bytes of a parameter and 2 of its cast, 4 of its gradient and 2 x 4 of Adam's moments.
  const MemoryUse use = memory_use(small_model(), device_of(1_GiB), {Precision::fp16, 2, {"adam", 2}, 0_B, 0_B});
  EXPECT_EQ(use.parameters, 600_B);
  EXPECT_EQ(use.gradients, 400_B);
  EXPECT_EQ(use.optimizer_state, 800_B);
}

TEST(Memory, AModelCastToHalfPrecisionKeepsAMasterCopy) {
  // 2 + 2 bytes of parameters and gradients, 4 of the copy and 2 x 4 of Adam's moments.
  const MemoryUse use =
      memory_use(small_model(), device_of(1_GiB), {Precision::fp16, 2, {"adam", 2}, 0_B, 0_B, GradientType::fp16});
  EXPECT_EQ(use.parameters + use.gradients, 400_B);
  EXPECT_EQ(use.optimizer_state, 1200_B);
  EXPECT_EQ(use.activations, 120_B);
}

MemoryDemand adam_in(Precision precision) {
  return {precision, 2, {"adam", 2}, 0_B, 0_B};
}

TEST(Memory, TypesOfParametersAndOfTheOptimizersStateAreTheUsers) {
  // All in bf16: 2 + 2 bytes and 2 x 2 of moments, no master copy.
  MemoryDemand demand = adam_in(Precision::bf16);
  demand.gradient_type = GradientType::bf16;
  demand.parameter_type = GradientType::bf16;
  demand.optimizer_state_type = GradientType::bf16;
  const MemoryUse pure = memory_use(small_model(), device_of(1_GiB), demand);
  EXPECT_EQ(pure.parameters + pure.gradients, 400_B);
  EXPECT_EQ(pure.optimizer_state, 400_B);
  demand.optimizer_state_type = GradientType::fp32;  // and the master copy
  EXPECT_EQ(memory_use(small_model(), device_of(1_GiB), demand).optimizer_state, 1200_B);
  demand.parameter_type = GradientType::fp32;
  EXPECT_EQ(memory_use(small_model(), device_of(1_GiB), demand).optimizer_state, 800_B);
}

TEST(Memory, RanksShareTheOptimizersStateThenGradientsThenParameters) {
  // ZeRO, fig. 1: (2 + 2 + 12) bytes a parameter of a model cast to half precision; stages 1, 2 and 3 on 4 ranks.
  MemoryDemand demand = adam_in(Precision::fp16);
  demand.gradient_type = GradientType::fp16;
  const double whole[] = {16, 2 + 2 + 12.0 / 4, 2 + (2 + 12.0) / 4, 16.0 / 4};
  for (int stage = 0; stage <= 3; ++stage) {
    demand.sharding = {stage, 4};
    const MemoryUse use = memory_use(small_model(), device_of(1_GiB), demand);
    EXPECT_EQ(use.parameters + use.gradients + use.optimizer_state, Bytes(100 * whole[stage])) << stage;
    EXPECT_EQ(use.gathered, Bytes(stage == 3 ? 200 : 0));  // all of it is outside of blocks
  }
}

TEST(Memory, OfParametersThatAreCastRanksShareThoseThatTheOptimizerChanges) {
  // 4 bytes a parameter and 2 cast, 4 of the gradient and 8 of moments: every rank keeps the cast ones up to stage 2.
  MemoryDemand demand = adam_in(Precision::bf16);
  const double whole[] = {4 + 2 + 4 + 8, 2 + 4 + 12.0 / 4, 2 + 16.0 / 4, 16.0 / 4};
  for (int stage = 0; stage <= 3; ++stage) {
    demand.sharding = {stage, 4};
    const MemoryUse use = memory_use(small_model(), device_of(1_GiB), demand);
    EXPECT_EQ(use.parameters + use.gradients + use.optimizer_state, Bytes(100 * whole[stage])) << stage;
  }
}

TEST(Memory, GradientsThatPassesAddUpUnshardedAreWhole) {
  // 2 bytes of each of 100, as the backward pass leaves them; 4 / 4 of each as shards.
  MemoryDemand demand = adam_in(Precision::bf16);
  demand.sharding = {3, 4};
  EXPECT_EQ(memory_use(small_model(), device_of(1_GiB), demand).gradients, 100_B);
  demand.adds_up_whole = true;
  EXPECT_EQ(memory_use(small_model(), device_of(1_GiB), demand).gradients, 200_B);
  demand.sharding = {1, 4};
  EXPECT_EQ(memory_use(small_model(), device_of(1_GiB), demand).gradients, 400_B);
}

/// The input of a product in one byte, in bf16 all else: the network's input of 10, and 20 that the norm needs.
TEST(Memory, InFp8AProductsInputMayBeKeptInOneByte) {
  Layer norm{"norm", "layer_norm", {}, 0, 10, 20};
  Layer dense{"dense", "linear", {{"weight", {100}}}, 100, 20, 40};
  Layer last{"last", "layer_norm", {}, 0, 40, 40};
  const Model model{"small", "", {norm, dense, last}};
  const MemoryUse use = memory_use(model, device_of(1_GiB), {Precision::fp8, 2, {"sgd", 0}, 0_B, 0_B});
  EXPECT_EQ(use.spared, Bytes(2 * 20));  // of the product's input, 2 samples
  EXPECT_EQ(use.at_least(), use.total() - use.spared);
  EXPECT_EQ(memory_use(model, device_of(1_GiB), {Precision::bf16, 2, {"sgd", 0}, 0_B, 0_B}).spared, 0_B);
}

TEST(Memory, NamesTheWaysToFit) {
  // 800 + 400 of state + 120 per sample: 1,700 bytes hold 4 samples, and 190 are not the framework's.
  const MemoryUse use = memory_use(small_model(), device_of(1890_B), {Precision::fp32, 6, {"momentum", 1}, 0_B, 0_B});
  EXPECT_EQ(largest_batch(use, 6), 4);
  EXPECT_THAT(ways_to_fit(use, 4), ElementsAre("a sharded optimizer, 300 B less on each of 4 ranks",
                                               "model parallelism, the layers over at least 2 devices"));
  EXPECT_THAT(describe(use), HasSubstr(" = parameters 400 B + gradients 400 B + optimizer state 400 B"));
}

TEST(Memory, AModelThatAloneIsTooLargeCanOnlyBeSplit) {
  const MemoryUse use = memory_use(small_model(), device_of(600_B), {Precision::fp32, 1, {"sgd", 0}, 0_B, 0_B});
  EXPECT_EQ(largest_batch(use, 1), 0);
  EXPECT_THAT(ways_to_fit(use, 1), ElementsAre("model parallelism, the layers over at least 2 devices"));
}

}}  // namespace farandole::memory_test
