// What of a job is left where only some parameters are trained: gradients, memory, and what is gathered.
#include "workload/trained.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/job.hpp"
#include "training/memory.hpp"
#include "training/strategies/sharded.hpp"
#include "workload/files.hpp"

namespace farandole::trained_test { namespace {

const std::vector<std::string> attention{"q_proj", "k_proj", "v_proj", "o_proj"};

Model llama() {
  return test::model("llama3_8b", "seq8192");
}

Model adapted() {
  return with_lora(llama(), {16, attention});
}

Job job_of(const Model& model) {
  Device device;
  device.peak = {{Precision::bf16, 100_TFLOPps}};
  device.memory_bandwidth = BytesPerSecond(1e12);
  device.assumed_efficiency = 1;
  return make_job(model, compute_times(model, device, {Precision::bf16, 1, "", {}}), GradientType::fp32, {});
}

MemoryUse memory_of(const Model& model, Sharding sharding = {}) {
  MemoryDemand demand;
  demand.precision = Precision::bf16;
  demand.optimizer = {"adam", 2};
  demand.sharding = sharding;
  return memory_use(model, Device(), demand);
}

TEST(TrainedJob, HasTheGradientsOfTheAdaptersAlone) {
  const Model model = adapted();
  const Job job = job_of(model);
  EXPECT_EQ(job.gradients.size(), 32U * 4 * 2);
  EXPECT_EQ(job.gradient_bytes(), 4_B * static_cast<double>(model.trainable_parameters()));
  EXPECT_EQ(job.buffer_bytes(), 0_B);
  EXPECT_EQ(job.variables.size(), static_cast<std::size_t>(model.tensors()));
  for (const Variable& variable : job.variables) {
    EXPECT_EQ(variable.frozen, variable.gradient < 0);
    if (variable.frozen) continue;
    EXPECT_EQ(job.gradients.at(static_cast<std::size_t>(variable.gradient)).name, variable.name);
  }
}

TEST(TrainedJob, GathersFrozenParametersAndReducesNone) {
  const Model whole = llama();
  const Model model = adapted();
  const ShardedUnits plain = units_of(job_of(whole));
  const ShardedUnits units = units_of(job_of(model));
  ASSERT_EQ(units.parameters.size(), plain.parameters.size());
  const auto adapters = static_cast<double>(model.trainable_parameters()) / 32;
  for (std::size_t unit = 0; unit < units.parameters.size(); ++unit) {
    EXPECT_EQ(units.parameters[unit], plain.parameters[unit] + adapters);
    EXPECT_EQ(units.trained[unit], adapters);
    EXPECT_EQ(plain.trained[unit], plain.parameters[unit]);
  }
  EXPECT_EQ(units.root, plain.root);
  EXPECT_EQ(units.root_trained, 0);
}

TEST(TrainedMemory, OfOptimizerAndGradientsIsThatOfTheAdapters) {
  // Adam: 8 bytes of a trained parameter, 4 of its gradient, 4 + 2 of itself and its cast; 2 of a frozen one.
  const Model model = adapted();
  const auto trained = static_cast<double>(model.trainable_parameters());
  const MemoryUse use = memory_of(model);
  EXPECT_EQ(use.optimizer_state, 8_B * trained);
  EXPECT_EQ(use.gradients, 4_B * trained);
  EXPECT_EQ(use.parameters, 6_B * trained + 2_B * static_cast<double>(llama().parameters()));
}

TEST(TrainedMemory, OfShardedJobsGathersWhatTheWholeModelGathers) {
  const Bytes more = memory_of(adapted(), {3, 8}).gathered - memory_of(llama(), {3, 8}).gathered;
  EXPECT_NEAR(more / (2_B * 2 * static_cast<double>(adapted().trainable_parameters()) / 32), 1, 1e-6);
}

TEST(TrainedMemory, KeepsNoInputsOfFrozenProductsButWhatAnAdapterReads) {
  // Of a block the inputs of gate and up (one norm's output) and of down are gone, and what lies between A and B is
  // there; outside of blocks the tokens and what the last norm gives.
  const double s = 8192;
  const double block = 2 * s * (14336 + 4096) - 2 * s * 4 * 16;
  const Bytes less =
      activations_of_a_sample(llama(), 2_B, Recompute::none) - activations_of_a_sample(adapted(), 2_B, Recompute::none);
  EXPECT_DOUBLE_EQ(less.si(), 32 * block + 2 * s * (1 + 4096));
}

TEST(TrainedMemory, KeepsTheInputOfAnyTargetOfABranch) {
  // Where only v has an adapter, the norm's output is still its input.
  const auto of = [](const std::vector<std::string>& targets) {
    return activations_of_a_sample(with_lora(llama(), {16, targets}), 2_B, Recompute::none);
  };
  const double s = 8192;
  EXPECT_DOUBLE_EQ((of({"q_proj", "v_proj"}) - of({"v_proj"})).si(), 32 * 2 * s * 16);
}

TEST(TrainedMemory, OfAFrozenPrefixKeepsNothing) {
  // The head: its input and the loss.
  const Model head = with_frozen(llama(), {"model.*"});
  const double s = 8192;
  EXPECT_DOUBLE_EQ(activations_of_a_sample(head, 2_B, Recompute::none).si(), s * (2 * 4096 + 128256.0 * (2 + 4 + 8)));
}

}}  // namespace farandole::trained_test
