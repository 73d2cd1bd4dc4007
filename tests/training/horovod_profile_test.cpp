#include "training/strategies/horovod_profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farandole::horovod_profile_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HorovodProfileTest : public testing::Test {
 protected:
  HorovodProfile profile(const std::string& version) { return horovod_profile(version, where_); }
  std::vector<std::string> apply(HorovodProfile& profile, const std::map<std::string, std::string>& variables) {
    return apply_environment(profile, variables, where_);
  }
  /// What the user reads.
  template <class Call>
  std::string error_of(Call call) {
    try {
      call();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  Node node_{std::string("x"), 4, std::make_shared<const std::string>("scenario.json")};
  Value where_{node_, "/strategy"};
};

TEST_F(HorovodProfileTest, DefaultsFollowTheVersion) {
  EXPECT_EQ(profile("0.9.0").fusion_threshold, 0_B);
  EXPECT_EQ(profile("0.9.3").fusion_threshold, 64_MiB);
  EXPECT_EQ(profile("0.20.3").fusion_threshold, 64_MiB);
  EXPECT_EQ(profile("0.21.0").fusion_threshold, 128_MiB);
  EXPECT_EQ(profile("0.9.6").cycle, 5_ms);
  EXPECT_EQ(profile("0.22.1").cycle, 1_ms);
  EXPECT_EQ(profile("0.16.1").cache_capacity, 0);
  EXPECT_EQ(profile("0.16.2").cache_capacity, 1024);
  EXPECT_FALSE(profile("0.13.2").cycle_time_adjustable);
  EXPECT_TRUE(profile("0.13.3").cycle_time_adjustable);
  EXPECT_EQ(profile("0.13.2").negotiation, Negotiation::point_to_point);
  EXPECT_EQ(profile("0.13.3").negotiation, Negotiation::gathered);
  EXPECT_FALSE(profile("0.20.3").batched_copies);
  EXPECT_TRUE(profile("0.21.0").batched_copies);
  EXPECT_TRUE(profile("0.22.1").waits_for_data);
  EXPECT_FALSE(profile("0.23.0").waits_for_data);
  EXPECT_TRUE(profile("0.13.7").sleeps_after_pass);
  EXPECT_FALSE(profile("0.13.8").sleeps_after_pass);
}

TEST_F(HorovodProfileTest, TextThatIsNoVersionIsRefused) {
  for (const char* text : {"", "0.13", "0.13.8.1", "v0.13.8", "0.13.8rc1", "0.-1.0"}) {
    EXPECT_THAT(error_of([&] { profile(text); }), HasSubstr("expected a Horovod version such as \"0.13.8\"")) << text;
  }
  EXPECT_THAT(error_of([&] { profile("0.8.9"); }), HasSubstr("expected Horovod 0.9.0 or later, got \"0.8.9\""));
}

TEST_F(HorovodProfileTest, PastedSettingsAreReadAsHorovodWritesThem) {
  HorovodProfile modern = profile("0.19.0");
  const auto result = apply(
      modern,
      {{"HOROVOD_FUSION_THRESHOLD", "33554432"}, {"HOROVOD_CYCLE_TIME", "3.5"}, {"HOROVOD_TIMELINE", "/tmp/t.json"}});
  EXPECT_EQ(modern.fusion_threshold, 32_MiB);
  EXPECT_DOUBLE_EQ(modern.cycle.si(), 3.5e-3);
  EXPECT_THAT(result, ElementsAre("HOROVOD_TIMELINE (not written; --timeline FILE writes it)"));
}

TEST_F(HorovodProfileTest, ASettingTheVersionDoesNotKnowIsNamedAndIgnoredAsHorovodDoes) {
  HorovodProfile old = profile("0.9.6");
  const auto result = apply(old, {{"HOROVOD_CYCLE_TIME", "1"}});
  EXPECT_EQ(old.cycle, 5_ms);
  EXPECT_THAT(result, ElementsAre("HOROVOD_CYCLE_TIME (Horovod 0.9.6 always waits 5 ms)"));
}

TEST_F(HorovodProfileTest, AMisspeltSettingIsRefusedWithTheNearestName) {
  HorovodProfile modern = profile("0.19.0");
  EXPECT_EQ(error_of([&] {
              apply(modern, {{"HOROVOD_CYCLETIME", "1"}});
            }),
            "scenario.json:4: /strategy: expected a HOROVOD_* setting, got \"HOROVOD_CYCLETIME\"; did you mean "
            "\"HOROVOD_CYCLE_TIME\"?");
}

TEST_F(HorovodProfileTest, ANumberThatIsNoneIsRefused) {
  HorovodProfile modern = profile("0.19.0");
  for (const char* text : {"5 ms", "", "-1", "nan", "1e99"}) {
    EXPECT_THAT(error_of([&] {
                  apply(modern, {{"HOROVOD_CYCLE_TIME", text}});
                }),
                HasSubstr("a bare number of milliseconds"))
        << text;
  }
}

TEST_F(HorovodProfileTest, WhatIsNotSimulatedIsRefusedRatherThanIgnored) {
  HorovodProfile modern = profile("0.26.0");
  for (const char* name : {"HOROVOD_ENABLE_XLA_OPS", "HOROVOD_ENABLE_ASYNC_COMPLETION"}) {
    EXPECT_THAT(error_of([&] {
                  apply(modern, {{name, "1"}});
                }),
                HasSubstr(std::string("expected ") + name + " off, got \"1\"; "));
    EXPECT_EQ(error_of([&] { apply(modern, {{name, "0"}}); }), "no error");
  }
  EXPECT_THAT(error_of([&] {
                apply(modern, {{"HOROVOD_CONTROLLER", "slurm"}});
              }),
              HasSubstr("expected HOROVOD_CONTROLLER, mpi or gloo, got \"slurm\""));
  EXPECT_THAT(error_of([&] {
                apply(modern, {{"HOROVOD_NUM_NCCL_STREAMS", "2.5"}});
              }),
              HasSubstr("expected HOROVOD_NUM_NCCL_STREAMS, a whole number up to 64, got \"2.5\""));
  HorovodProfile old = profile("0.13.6");
  EXPECT_THAT(error_of([&] {
                apply(old, {{"HOROVOD_HIERARCHICAL_ALLREDUCE", "1"}});
              }),
              HasSubstr("expected Horovod 0.14.1 or later for HOROVOD_HIERARCHICAL_ALLREDUCE, got 0.13.6"));
}

TEST_F(HorovodProfileTest, VariablesOfItsControlPlaneAndItsStreamsChangeTheProfile) {
  HorovodProfile modern = profile("0.26.0");
  apply(modern, {{"HOROVOD_CONTROLLER", "Gloo"},
                 {"HOROVOD_NUM_NCCL_STREAMS", "2"},
                 {"HOROVOD_BATCH_D2D_MEMCOPIES", "0"},
                 {"HOROVOD_TORUS_ALLREDUCE", "1"}});
  EXPECT_EQ(modern.negotiation, Negotiation::gloo_gather);
  EXPECT_EQ(modern.streams, 2);
  EXPECT_FALSE(modern.batched_copies);
  EXPECT_TRUE(modern.torus_allreduce);
  HorovodProfile older = profile("0.19.0");
  apply(older, {{"HOROVOD_CONTROLLER", "gloo"}});
  EXPECT_EQ(older.negotiation, Negotiation::gloo_allgather);
}

TEST_F(HorovodProfileTest, VariablesOfLaterVersionsAreNamedAndIgnored) {
  HorovodProfile old = profile("0.13.5");
  const auto result = apply(old, {{"HOROVOD_CONTROLLER", "gloo"},
                                  {"HOROVOD_BATCH_D2D_MEMCOPIES", "1"},
                                  {"HOROVOD_ENABLE_ASYNC_COMPLETION", "1"},
                                  {"HOROVOD_HIERARCHICAL_ALLREDUCE", "1"},
                                  {"HOROVOD_TORUS_ALLREDUCE", "1"}});
  EXPECT_THAT(result, ElementsAre("HOROVOD_BATCH_D2D_MEMCOPIES (Horovod 0.13.5 has no batched copies)",
                                  "HOROVOD_CONTROLLER (Horovod 0.13.5 has no choice of controllers)",
                                  "HOROVOD_ENABLE_ASYNC_COMPLETION (Horovod 0.13.5 has no asynchronous "
                                  "completion)",
                                  "HOROVOD_HIERARCHICAL_ALLREDUCE (Horovod 0.13.5 has no hierarchical "
                                  "allreduce)",
                                  "HOROVOD_TORUS_ALLREDUCE (Horovod 0.13.5 has no torus allreduce)"));
  EXPECT_FALSE(old.hierarchical_allreduce || old.torus_allreduce || old.batched_copies);
  EXPECT_EQ(old.negotiation, Negotiation::gathered);
}

TEST_F(HorovodProfileTest, TheAutotunerTakesItsDetailsAndLeavesWhatIsSet) {
  HorovodProfile modern = profile("0.19.0");
  const auto result = apply(modern, {{"HOROVOD_AUTOTUNE", "1"},
                                     {"HOROVOD_AUTOTUNE_LOG", "/tmp/a.csv"},
                                     {"HOROVOD_AUTOTUNE_WARMUP_SAMPLES", "0"},
                                     {"HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", "5"},
                                     {"HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", "7"},
                                     {"HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", "0.2"},
                                     {"HOROVOD_CYCLE_TIME", "3"}});
  ASSERT_TRUE(modern.autotune);
  EXPECT_THAT(result, ElementsAre(testing::StartsWith("HOROVOD_AUTOTUNE_LOG (not written")));
  EXPECT_EQ(modern.autotune->warmup_samples, 0);
  EXPECT_EQ(modern.autotune->steps_per_sample, 5);
  EXPECT_EQ(modern.autotune->max_samples, 7);
  EXPECT_EQ(modern.autotune->noise, 0.2);
  EXPECT_FALSE(modern.tunable.cycle_time);
  EXPECT_TRUE(modern.tunable.fusion_threshold);
}

TEST_F(HorovodProfileTest, WithoutAnAutotunerItsVariablesAreNamedAndIgnored) {
  HorovodProfile old = profile("0.15.2");
  EXPECT_THAT(apply(old, {{"HOROVOD_AUTOTUNE", "1"}}),
              ElementsAre("HOROVOD_AUTOTUNE (Horovod 0.15.2 has no autotuner)"));
  EXPECT_FALSE(old.autotune);
  HorovodProfile off = profile("0.19.0");
  EXPECT_THAT(apply(off, {{"HOROVOD_AUTOTUNE", "0"}, {"HOROVOD_AUTOTUNE_LOG", "/tmp/a.csv"}}),
              ElementsAre("HOROVOD_AUTOTUNE_LOG (HOROVOD_AUTOTUNE is off)"));
  EXPECT_THAT(error_of([&] {
                apply(off, {{"HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE", "2.5"}});
              }),
              HasSubstr("HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE, a whole number of at least 1, got \"2.5\""));
}

TEST_F(HorovodProfileTest, TheHierarchicalAllreduceRoundsItsBufferUpToAtomicUnitsOfEveryRankOfANode) {
  // 4 ranks x 64 elements x 8 bytes = 2048 bytes.
  HorovodProfile modern = profile("0.19.0");
  modern.fusion_threshold = 5000_B;
  EXPECT_EQ(fusion_buffer(modern, 4), 5000_B);
  apply(modern, {{"HOROVOD_HIERARCHICAL_ALLREDUCE", "1"}});
  EXPECT_EQ(fusion_buffer(modern, 4), 6144_B);
  EXPECT_EQ(fusion_buffer(profile("0.9.0"), 4), 0_B);
}

}}  // namespace farandole::horovod_profile_test
