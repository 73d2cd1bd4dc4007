#include "training/job.hpp"

#include <gtest/gtest.h>

namespace farandole::job_test { namespace {

/// Two layers: forward 1 s and 2 s, backward 3 s and 4 s.
class TwoLayers : public testing::Test {
 protected:
  Model model_{"two",
               "plain",
               {{"first", "linear", {{"w", {10}}, {"b", {2}}}, 0, 0, 0}, {"second", "linear", {{"v", {5}}}, 0, 0, 0}}};
  ComputeTimes times_{{1_s, 2_s}, {3_s, 4_s}, 1_s, true, {}, ""};
};

TEST_F(TwoLayers, GradientsStandInBackwardOrder) {
  const Job job = make_job(model_, times_, GradientType::fp32, std::nullopt);
  ASSERT_EQ(job.gradients.size(), 3U);
  EXPECT_EQ(job.gradients[0].name, "v");
  EXPECT_EQ(job.gradients[1].name, "b");
  EXPECT_EQ(job.gradients[2].name, "w");
  EXPECT_EQ(job.gradients[2].size, 40_B);
  EXPECT_EQ(job.gradient_bytes(), 68_B);
}

TEST_F(TwoLayers, AGradientIsReadyWhenItsLayersBackwardPassEnds) {
  const Job job = make_job(model_, times_, GradientType::fp32, std::nullopt);
  EXPECT_EQ(job.gradients[0].ready, 7_s);   // 1 + 2 forward, 4 backward
  EXPECT_EQ(job.gradients[2].ready, 10_s);  // and 3
  EXPECT_EQ(job.backward_end, 10_s);
  EXPECT_EQ(job.compute(), 11_s);
}

TEST_F(TwoLayers, AHostThatRunsAheadAnnouncesWhenItHasQueuedTheKernels) {
  const Job job = make_job(model_, times_, GradientType::fp32, 10_ms);
  EXPECT_DOUBLE_EQ(job.gradients[0].announced.si(), 0.03);  // two forward passes, one backward
  EXPECT_DOUBLE_EQ(job.gradients[2].announced.si(), 0.04);
}

TEST_F(TwoLayers, AHostThatWaitsForItsDeviceAnnouncesWhatIsReady) {
  const Job job = make_job(model_, times_, GradientType::fp32, std::nullopt);
  for (const Gradient& gradient : job.gradients) EXPECT_EQ(gradient.announced, gradient.ready);
}

TEST_F(TwoLayers, ASlowHostDoesNotAnnounceAfterTheDataIsThere) {
  const Job job = make_job(model_, times_, GradientType::fp32, 100_s);
  for (const Gradient& gradient : job.gradients) EXPECT_EQ(gradient.announced, gradient.ready);
}

TEST_F(TwoLayers, ShortGradientsAreHalfAsLong) {
  EXPECT_EQ(make_job(model_, times_, GradientType::fp16, std::nullopt).gradient_bytes(), 34_B);
}

TEST_F(TwoLayers, VariablesStandInTheOrderOfTheModelAndNameTheirGradients) {
  model_.layers.insert(model_.layers.begin() + 1, {"bn", "batch_norm2d", {{"g", {3}}}, 0, 0, 0});
  times_.forward = {1_s, 0_s, 2_s};
  times_.backward = {3_s, 0_s, 4_s};
  const Job job = make_job(model_, times_, GradientType::fp16, std::nullopt);
  std::vector<std::string> names;
  for (const Variable& variable : job.variables) {
    names.push_back(variable.name);
    if (variable.gradient < 0) continue;
    EXPECT_EQ(job.gradients[static_cast<std::size_t>(variable.gradient)].name, variable.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"w", "b", "g", "bn.running_mean", "bn.running_var", "v"}));
  EXPECT_EQ(job.buffer_bytes(), 2 * 12_B);  // always in fp32
}

TEST_F(TwoLayers, AccumulationGivesGradientsInItsLastPass) {
  const Job job = accumulated(make_job(model_, times_, GradientType::fp32, std::nullopt), 3);
  EXPECT_EQ(job.gradients[0].ready, 27_s);
  EXPECT_EQ(job.backward_end, 30_s);
  EXPECT_EQ(job.compute(), 31_s);
}

struct At {
  double seconds;
  double bytes;
  bool operator==(const At&) const = default;
};

std::vector<At> moments_of(const std::vector<InnerExchange>& exchanges) {
  std::vector<At> moments;
  for (const InnerExchange& exchange : exchanges) {
    EXPECT_EQ(exchange.what.operation, Operation::alltoall);
    EXPECT_EQ(exchange.what.group, Group::experts);
    moments.push_back({exchange.at.si(), exchange.what.size.si()});
  }
  return moments;
}

/// Two samples of 2 bytes an element, of which 6 elements go to the experts and 4 come back: 24 bytes before the
/// layer's pass of 2 s, 16 after it; backward their gradients the other way round, the pass of 4 s between them. What
/// is recomputed goes there and back once more before, within the 2 s that its forward pass takes again.
TEST_F(TwoLayers, TokensGoToTheirExpertsAndBackAndTheirGradientsTheSameWay) {
  Layer& experts = model_.layers[1];
  experts.block = "layers.0";
  experts.experts = 2;
  experts.dispatched = 6;
  experts.combined = 4;
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    Job job = make_job(model_, times_, GradientType::fp32, std::nullopt);
    add_expert_exchanges(job, model_, {2, 2_B, false, recompute});
    EXPECT_TRUE(job.layers[0].forward_exchanges.empty());
    EXPECT_TRUE(job.layers[0].backward_exchanges.empty());
    const std::vector<At> forward{{0, 24}, {2, 16}};
    const std::vector<At> once{{0, 16}, {4, 24}};
    const std::vector<At> again{{0, 24}, {2, 16}, {2, 16}, {4, 24}};
    EXPECT_EQ(moments_of(job.layers[1].forward_exchanges), forward);
    EXPECT_EQ(moments_of(job.layers[1].backward_exchanges), recompute == Recompute::full ? again : once);
    EXPECT_TRUE(job.gradients[0].is_of_experts);
    EXPECT_FALSE(job.gradients[1].is_of_experts);
  }
}

/// Forward 1 and 2 s, backward 4 and then 3 s: of two passes the second one's moments are 10 s later.
TEST_F(TwoLayers, ExchangesOfAStepStandOneAfterTheOtherInItsPasses) {
  Job job = make_job(model_, times_, GradientType::fp32, std::nullopt);
  const Collective exchange{Operation::alltoall, 1_B, {}, {}, false, Group::experts};
  job.layers[0].forward_exchanges = {{Seconds(0.25), exchange}};
  job.layers[1].forward_exchanges = {{Seconds(0.5), exchange}};
  job.layers[0].backward_exchanges = {{1_s, exchange}};
  std::vector<double> moments;
  for (const InnerExchange& each : exchanges_of(accumulated(job, 2))) moments.push_back(each.at.si());
  EXPECT_EQ(moments, (std::vector{0.25, 1.5, 8., 10.25, 11.5, 18.}));
}

}}  // namespace farandole::job_test
