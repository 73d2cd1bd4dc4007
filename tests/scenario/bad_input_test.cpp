// What a user reads who made a mistake: one line, the place, what was expected, what was found, the nearest name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::bad_input_test { namespace {

using test::error_of;
using testing::HasSubstr;

TEST(BadInput, AnUnknownModelIsAnsweredWithTheNearest) {
  EXPECT_EQ(error_of({{"/workload/model", "vgg_16"}}),
            "--set: /workload/model: expected a model, got \"vgg_16\"; did you mean \"vgg16\"?");
}

TEST(BadInput, AnUnknownTopologyIsAnsweredWithTheNearest) {
  EXPECT_THAT(error_of({{"/platform/topology", "ethernet-25"}}), HasSubstr("did you mean \"ethernet-25g\"?"));
}

TEST(BadInput, AnUnknownDeviceOfAnOverrideIsAnsweredWhereItStands) {
  EXPECT_EQ(error_of({{"/platform/override", R"({"/node/device": "p10"})"}}),
            "--set: /platform/override: expected a device, got \"p10\"; did you mean \"p100\"?");
}

TEST(BadInput, APrecisionThatTheDeviceHasNoRateForIsRefusedWhereItStands) {
  EXPECT_EQ(
      error_of({{"/platform/topology", "roce25-4xp100"}, {"/workload/precision", "tf32"}}),
      "--set: /workload/precision: expected a precision that p100 has a rate for, got \"tf32\"; known: fp32, fp16");
}

TEST(BadInput, AMisspeltKeyIsAnsweredWithTheNearest) {
  EXPECT_THAT(error_of({{"/workload/batch_per_rnk", "8"}}),
              HasSubstr("/workload/batch_per_rnk: expected a known key, got \"batch_per_rnk\"; did you mean "
                        "\"batch_per_rank\"?"));
}

TEST(BadInput, NegativeRanksAreRefused) {
  EXPECT_THAT(error_of({{"/platform/ranks", "-4"}}),
              HasSubstr("/platform/ranks: expected an integer of at least 1, got -4"));
  EXPECT_THAT(error_of({{"/platform/ranks", "0"}}), HasSubstr("got 0"));
  EXPECT_THAT(error_of({{"/platform/ranks", "2.5"}}), HasSubstr("got 2.5"));
}

TEST(BadInput, ASizeWhereARateBelongsIsNamedAsOne) {
  EXPECT_EQ(error_of({{"/platform/override", R"({"/node/nic/rate": "25 GB"})"}}),
            "--set: /node/nic/rate: expected a rate such as \"25 Gbit/s\", got \"25 GB\" (a size)");
}

TEST(BadInput, RanksBeyondTheSlotsAreRefusedWithBothNumbers) {
  const std::string message = error_of({{"/platform/topology", "roce25-4xp100"}, {"/platform/ranks", "513"}});
  EXPECT_THAT(message, HasSubstr("513"));
  EXPECT_THAT(message, HasSubstr("at most 512 ranks"));
}

TEST(BadInput, HostsWithTooFewSlotsAreRefused) {
  EXPECT_THAT(error_of({{"/platform/ranks", "16"}, {"/platform/launch", "horovodrun -np 16 -H a:4,b:4 python t.py"}}),
              HasSubstr("/platform/launch"));
}

TEST(BadInput, ALaunchLineThatDisagreesWithTheRanksIsRefused) {
  EXPECT_THAT(error_of({{"/platform/launch", "horovodrun -np 8 -H a:1,b:1,c:1,d:1,e:1,f:1,g:1,h:1 python t.py"}}),
              HasSubstr("/platform/ranks: expected 8 as the launch line says, or no \"ranks\", got 4"));
}

TEST(BadInput, AnUnknownStrategyFidelityAlgorithmOrCompressionIsRefused) {
  EXPECT_THAT(error_of({{"/strategy/kind", "horovd"}}), HasSubstr("did you mean \"horovod\"?"));
  EXPECT_THAT(error_of({{"/measure/fidelity", "flwo"}}), HasSubstr("did you mean \"flow\"?"));
  EXPECT_THAT(error_of({{"/collectives", R"({"allreduce": "rings"})"}}), HasSubstr("did you mean \"ring\"?"));
  EXPECT_THAT(error_of({{"/strategy/compression", "fp61"}}), HasSubstr("expected a compression"));
}

TEST(BadInput, AnEmptySweepAxisOrOneThatPointsNowhereIsRefused) {
  EXPECT_THAT(error_of({{"/sweep", R"({"/platform/ranks": []})"}}), HasSubstr("expected at least one value"));
  EXPECT_THAT(error_of({{"/sweep", R"({"/platfrom/ranks": [1]})"}}), HasSubstr("did you mean \"platform\"?"));
  EXPECT_THAT(error_of({{"/sweep", R"({"/workload/model/name": [1]})"}}), HasSubstr("/workload/model/name: expected"));
  EXPECT_THAT(error_of({{"/sweep", R"({"ranks": [1]})"}}), HasSubstr("expected a JSON pointer"));
}

TEST(BadInput, IsFoundInEveryPointOfASweepBeforeAnythingRuns) {
  EXPECT_THAT(error_of({{"/sweep", R"({"/platform/ranks": [1, 2, -3]})"}}), HasSubstr("got -3"));
}

}}  // namespace farandole::bad_input_test
