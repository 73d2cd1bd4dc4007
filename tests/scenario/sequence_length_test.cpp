// The length of sequences, recomputation, and what a result says of tokens and utilisation.
#include <cmath>
#include <sstream>

#include <gmock/gmock.h>

#include "report/record.hpp"
#include "report/reports.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::sequence_length_test { namespace {

using ::testing::HasSubstr;

std::vector<test::Change> on_h100(const std::string& workload) {
  return {{"/platform", R"({"topology": "ethernet-100g", "ranks": 4, "override": {"/node/device": "h100"}})"},
          {"/strategy", R"({"kind": "ddp"})"},
          {"/workload", workload}};
}

TrainingPoint point_of(const std::string& workload, const std::vector<test::Change>& more = {}) {
  std::vector<test::Change> changes = on_h100(workload);
  changes.insert(changes.end(), more.begin(), more.end());
  return test::run(changes).points.at(0);
}

const char* const gpt2 = R"({"model": "gpt2_small", "batch_per_rank": 8, "precision": "bf16"})";

TEST(SequenceLength, IsTheModelsWhereNobodySaysOtherwise) {
  const TrainingPoint point = point_of(gpt2);
  EXPECT_EQ(point.utilisation.sequence_length, 1024);
  EXPECT_EQ(point.variant, "seq1024");
  EXPECT_DOUBLE_EQ(point.utilisation.tokens_per_second, 1024 * point.samples_per_second);
}

TEST(SequenceLength, MakesWorkAndActivationsFollow) {
  const TrainingPoint whole = point_of(gpt2);
  const TrainingPoint half = point_of(gpt2, {{"/workload/sequence_length", "512"}});
  EXPECT_EQ(half.utilisation.sequence_length, 512);
  EXPECT_EQ(half.variant, "seq512");
  EXPECT_DOUBLE_EQ(half.memory.activations / whole.memory.activations, 0.5);  // fused attention: no square
  EXPECT_LT(half.breakdown.compute, whole.breakdown.compute);
  EXPECT_GT(half.breakdown.compute, 0.3 * whole.breakdown.compute);
  EXPECT_EQ(half.gradient_bytes, whole.gradient_bytes);
}

TEST(SequenceLength, OfAVariantIsThatVariantAndItsMeasuredRates) {
  const std::string model = R"({"model": "mpt_1b", "batch_per_rank": 14, "precision": "bf16", "optimizer": "sgd")";
  const std::vector<test::Change> a100{{"/platform/override/~1node~1device", "a100_80gb"}};
  const TrainingPoint variant = point_of(model + R"(, "variant": "seq512"})", a100);
  const TrainingPoint length = point_of(model + R"(, "sequence_length": 512})", a100);
  EXPECT_EQ(length.variant, "seq512");
  EXPECT_EQ(length.iteration, variant.iteration);
  EXPECT_THAT(length.compute_source, HasSubstr("measured"));
  const TrainingPoint between = point_of(model + R"(, "sequence_length": 1024})", a100);
  EXPECT_THAT(between.compute_source, HasSubstr("estimated"));  // nobody measured it at that length
  EXPECT_GT(between.breakdown.compute, 1.8 * length.breakdown.compute);
}

TEST(SequenceLength, IsRefusedWhereItMeansNothing) {
  EXPECT_THAT(test::error_of({{"/workload/sequence_length", "512"}}),
              HasSubstr("/workload/sequence_length: expected no such key: a sample of resnet18 is no sequence"));
  EXPECT_THAT(test::error_of({{"/workload", R"({"model": "gpt2_small", "sequence_length": 2048})"}}),
              HasSubstr("expected at most 1024 tokens, for which gpt2_small has positions, got 2048"));
  EXPECT_THAT(test::error_of({{"/workload", R"({"model": "mpt_1b", "variant": "seq512", "sequence_length": 1024})"}}),
              HasSubstr("expected 512, the length of variant \"seq512\", got 1024; without \"variant\" any length"));
  EXPECT_THAT(test::error_of({{"/workload", R"({"model": "gpt2_small", "sequence_length": 0})"}}),
              HasSubstr("/workload/sequence_length: expected an integer of at least 1"));
}

TEST(Recomputation, CostsAFourthPassAndSavesActivations) {
  const TrainingPoint none = point_of(gpt2);
  const TrainingPoint selective = point_of(gpt2, {{"/workload/recompute", "selective"}});
  const TrainingPoint full = point_of(gpt2, {{"/workload/recompute", "full"}});
  EXPECT_LT(none.breakdown.compute, selective.breakdown.compute);
  EXPECT_LT(selective.breakdown.compute, full.breakdown.compute);
  EXPECT_LT(full.breakdown.compute, 4.0 / 3 * none.breakdown.compute);
  EXPECT_GT(none.memory.activations, selective.memory.activations);
  EXPECT_GT(selective.memory.activations, full.memory.activations);
  EXPECT_THAT(test::error_of({{"/workload", R"({"model": "vgg16", "recompute": "full"})"}}),
              HasSubstr("/workload/recompute: expected \"none\" for vgg16, whose layers are in no blocks"));
}

TEST(Recomputation, IsNamedWhereItMakesAJobFit) {
  std::vector<test::Change> changes =
      on_h100(R"({"model": "gpt2_xl", "batch_per_rank": 22, "precision": "bf16", "optimizer": "adam"})");
  EXPECT_THAT(test::error_of(changes), HasSubstr("; ways out: \"recompute\": \"selective\", "));
  changes.push_back({"/workload/recompute", "selective"});
  EXPECT_EQ(test::error_of(changes), "no error");
  changes.push_back({"/workload/batch_per_rank", "40"});
  EXPECT_THAT(test::error_of(changes), HasSubstr("; ways out: \"recompute\": \"full\", "));
}

TEST(Utilisation, OfAModelIsItsWorkOverTheTimeAndThePeak) {
  // (6 N + 12 L H Q T) T b / (iteration x peak); N: 12 x 12 x 768^2 + 50257 x 768.
  const double token = 6 * (144.0 * 768 * 768 + 50257 * 768) + 12.0 * 12 * 768 * 1024;
  for (const char* recompute : {"none", "selective", "full"}) {
    const TrainingPoint point = point_of(gpt2, {{"/workload/recompute", recompute}});
    const double achieved = token * 1024 * 8 / point.iteration.si();
    EXPECT_NEAR(point.utilisation.tflops / (achieved / 1e12), 1, 1e-12);
    EXPECT_NEAR(point.utilisation.mfu.value() / (achieved / 989.4e12), 1, 1e-12);
    const double masked = 6.0 * 12 * 768 * 1024 / token;  // half of attention
    EXPECT_NEAR(point.utilisation.mfu_causal.value() / point.utilisation.mfu.value(), 1 - masked, 1e-12);
    EXPECT_EQ(point.utilisation.recompute, recompute);
    EXPECT_EQ(point.utilisation.hfu > point.utilisation.mfu, point.utilisation.recompute != "none");
    EXPECT_GE(point.utilisation.hfu, point.utilisation.mfu);
  }
}

TEST(Utilisation, StandsInEveryFormOfTheResult) {
  const TrainingPoint text = point_of(gpt2);
  const Record record = to_record(text);
  EXPECT_EQ(record.at("sequence_length"), 1024);
  for (const char* key : {"tokens_per_second", "tflops_per_device", "mfu", "mfu_causal", "hfu"})
    EXPECT_GT(record.at(key), 0) << key;
  EXPECT_EQ(record.at("recompute"), "none");
  const auto written = [](Format format, const TrainingPoint& point) {
    std::ostringstream out;
    write_training(out, format, {"demo", {}}, std::vector{point});
    return out.str();
  };
  EXPECT_THAT(written(Format::csv, text), HasSubstr("tokens_per_second"));
  EXPECT_THAT(written(Format::table, text), HasSubstr("MFU (%)"));
  const TrainingPoint image = test::run({}).points.at(0);
  EXPECT_FALSE(to_record(image).contains("tokens_per_second"));
  EXPECT_TRUE(to_record(image).contains("mfu"));
  EXPECT_FALSE(to_record(image).contains("mfu_causal"));
  EXPECT_EQ(written(Format::table, image).find("MFU"), std::string::npos);
}

}}  // namespace farandole::sequence_length_test
