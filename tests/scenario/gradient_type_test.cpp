// What travels and is summed, apart from what computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/reports.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::gradient_type_test { namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double parameters = 11689512;  // of ResNet-18

/// A point on V100s, which compute in either precision.
TrainingPoint half_precision(std::vector<test::Change> changes) {
  changes.insert(changes.begin(), {{"/platform", R"({"topology": "dgx1-v100", "ranks": 8})"},
                                   {"/strategy", R"({"kind": "ddp"})"},
                                   {"/collectives", R"({"allreduce": "ring"})"},
                                   {"/workload/precision", "fp16"}});
  return test::run(changes).points.at(0);
}

/// The same where the network counts.
TrainingPoint on_a_slow_network(const std::vector<test::Change>& changes) {
  std::vector<test::Change> all{
      {"/platform", R"({"topology": "ethernet-10g", "ranks": 4, "override": {"/node/device": "v100"}})"}};
  all.insert(all.end(), changes.begin(), changes.end());
  return half_precision(all);
}

/// bytes = parameters x 4, what autocast and TensorFlow's automatic mixed precision leave in single precision.
TEST(GradientType, IsSingleUnlessSaidWhateverComputesAndWhoeverCarriesIt) {
  for (const char* strategy : {R"({"kind": "ddp"})", R"({"kind": "horovod", "version": "0.21.0"})",
                               R"({"kind": "allgather"})", R"({"kind": "parameter_server", "colocated": true})"}) {
    const TrainingPoint point = half_precision({{"/strategy", strategy}});
    EXPECT_EQ(point.precision, "fp16");
    EXPECT_EQ(point.gradient_type, "fp32");
    EXPECT_EQ(point.gradient_bytes, Bytes(4 * parameters)) << strategy;
    EXPECT_EQ(point.memory.gradients, Bytes(4 * parameters)) << strategy;
  }
}

/// bytes = parameters x 2, in memory as on the wire, and the same compute.
TEST(GradientType, ShortOnesHalveBytesAndMemoryAndTravelFasterButComputeAlike) {
  const TrainingPoint single = half_precision({});
  for (const char* type : {"fp16", "bf16"}) {
    const TrainingPoint point = half_precision({{"/workload/gradient_type", type}});
    EXPECT_EQ(point.gradient_type, type);
    EXPECT_EQ(point.gradient_bytes, Bytes(2 * parameters));
    EXPECT_EQ(point.memory.gradients, Bytes(2 * parameters));
    // Autocast keeps parameters and casts of them, a model that was cast its parameters and a master copy.
    EXPECT_EQ(point.memory.parameters + point.memory.optimizer_state,
              single.memory.parameters + single.memory.optimizer_state);
    EXPECT_NEAR(point.breakdown.compute / single.breakdown.compute, 1, 0.01);  // copied into buckets half as long
    EXPECT_LT(on_a_slow_network({{"/workload/gradient_type", type}}).iteration, on_a_slow_network({}).iteration);
  }
}

/// Pushes are gradients, pulls are variables, which servers keep in fp32; replicas fetch what servers averaged.
TEST(GradientType, OfServersShortensPushesAndWhatReplicasFetch) {
  const auto exposed = [](const char* type) {
    return on_a_slow_network({{"/strategy", R"({"kind": "distributed_replicated", "overlap": false})"},
                              {"/workload/gradient_type", type}})
        .breakdown.exposed_communication;
  };
  EXPECT_NEAR(exposed("fp16") / exposed("fp32"), 0.5, 0.05);
}

TEST(Compression, OfSingleGradientsHalvesWhatTravelsAlsoInMixedPrecision) {
  const TrainingPoint none = on_a_slow_network({});
  const TrainingPoint fp16 = on_a_slow_network({{"/strategy/compression", "fp16"}});
  EXPECT_LT(fp16.breakdown.exposed_communication, 0.6 * none.breakdown.exposed_communication);
  EXPECT_THAT(fp16.notes, Each(Not(HasSubstr("changes nothing"))));
}

TEST(Compression, ThatChangesNothingIsSaidInOneLine) {
  const auto notes_of = [](const char* type, const char* compression) {
    return half_precision({{"/workload/gradient_type", type}, {"/strategy/compression", compression}}).notes;
  };
  EXPECT_THAT(notes_of("fp16", "fp16"), ElementsAre("compression fp16 changes nothing: gradients are fp16 already"));
  EXPECT_THAT(notes_of("bf16", "fp16"), ElementsAre("compression fp16 changes nothing: gradients are bf16 already"));
  EXPECT_THAT(notes_of("fp16", "int8"), Each(Not(HasSubstr("changes nothing"))));
  EXPECT_THAT(notes_of("fp32", "none"), IsEmpty());
  EXPECT_THAT(notes_of("fp32", R"({"kind": "power_sgd", "rank": 4096})"),
              ElementsAre("compression power_sgd changes nothing: no gradient would get shorter"));
  // One rank sends nothing anyway.
  EXPECT_THAT(
      test::run({{"/platform/ranks", "1"}, {"/workload/gradient_type", "fp16"}, {"/strategy/compression", "fp16"}})
          .points[0]
          .notes,
      IsEmpty());
}

TEST(Compression, ThatChangesNothingIsSaidInTheTableAndInJson) {
  const std::vector<TrainingPoint> points{
      half_precision({{"/workload/gradient_type", "fp16"}, {"/strategy/compression", "fp16"}})};
  std::ostringstream table;
  write_training(table, Format::table, {"s", {}}, points);
  EXPECT_THAT(table.str(), HasSubstr("\n# note: compression fp16 changes nothing: gradients are fp16 already\n"));
  std::ostringstream json;
  write_training(json, Format::json, {"s", {}}, points);
  EXPECT_THAT(json.str(), HasSubstr("\"compression fp16 changes nothing: gradients are fp16 already\""));
}

TEST(GradientType, IsRefusedByNameWhereItIsNone) {
  EXPECT_EQ(test::error_of({{"/workload/gradient_type", "f16"}}),
            "--set: /workload/gradient_type: expected a type of gradients, got \"f16\"; did you mean \"fp16\"?");
}

}}  // namespace farandole::gradient_type_test
