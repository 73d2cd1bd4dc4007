// Layer times that a model file brings along.
#include "workload/profile.hpp"

#include <gmock/gmock.h>

#include "config/error.hpp"

namespace farandole::profile_test { namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Document profiled() {
  return Document::parse(R"({
    "name": "tiny", "summary": "Two layers.",
    "variants": [{
      "name": "only", "summary": "s", "source": "here", "input": [3], "parameters": 12, "tensors": 1, "macs": 12,
      "layers": [
        {"name": "fc", "type": "linear", "macs": 12, "input": [3], "output": [4], "tensors": [{"name": "w", "shape": [4, 3]}]},
        {"name": "relu", "type": "relu", "input": [4], "output": [4]}
      ],
      "profiles": [
        {"device": "p100", "precision": "fp32", "batch": 16, "source": "someone", "update": "2 ms",
         "layers": {"relu": ["1 ms", "3 ms"], "fc": ["5 ms", "10 ms"]}},
        {"device": "p100", "precision": "fp32", "batch": 64, "source": "someone", "update": "2 ms",
         "layers": {"relu": ["4 ms", "12 ms"], "fc": ["15 ms", "30 ms"]}}
      ]
    }]
  })",
                         "tiny.json");
}

std::vector<Profile> profiles() {
  const Document document = profiled();
  const Model model = read_model(document.root(), "tiny.json").variants.front();
  return profiles_of(document.root(), model);
}

TEST(Profile, TimesStandInTheOrderOfTheLayersWhateverTheOrderInTheFile) {
  const auto times = profiled_times(profiles(), "p100", Precision::fp32, 16);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->forward, (std::vector<Seconds>{5_ms, 1_ms}));
  EXPECT_EQ(times->backward, (std::vector<Seconds>{10_ms, 3_ms}));
  EXPECT_EQ(times->update, 2_ms);
  EXPECT_TRUE(times->measured);
  EXPECT_EQ(times->source, "profiled: layer times on p100 at batch 16, someone");
}

TEST(Profile, OtherBatchesTakeTimesInProportionFromTheNearestAndTheSameUpdate) {
  const auto times = profiled_times(profiles(), "p100", Precision::fp32, 48);
  ASSERT_TRUE(times);  // of 16 and 64, 64 is nearer: 48 / 64 of its times
  EXPECT_DOUBLE_EQ(times->forward.at(0).si(), 15e-3 * 48 / 64);
  EXPECT_DOUBLE_EQ(times->backward.at(1).si(), 12e-3 * 48 / 64);
  EXPECT_EQ(times->update, 2_ms);
}

TEST(Profile, IsOfItsDeviceAndPrecisionOnly) {
  EXPECT_FALSE(profiled_times(profiles(), "v100", Precision::fp32, 16));
  EXPECT_FALSE(profiled_times(profiles(), "p100", Precision::fp16, 16));
}

TEST(Profile, WithoutADeviceIsOfAllWhereThereIsNoneOfTheRightOne) {
  auto all = profiles();
  all.front().device.clear();
  all.front().precision.reset();
  const auto anywhere = profiled_times(all, "v100", Precision::fp16, 16);
  ASSERT_TRUE(anywhere);
  EXPECT_EQ(anywhere->forward.front(), 5_ms);
  EXPECT_EQ(profiled_times(all, "p100", Precision::fp32, 64)->forward.front(), 15_ms);
}

/// The profiles that a scenario's "profile" leaves for a platform with that device.
std::vector<Profile> chosen(const std::string& name, const std::string& device) {
  const auto document = Document::parse("\"" + name + "\"", "scenario.json");
  auto all = profiles();
  choose_profiles(all, document.root(), device);
  return all;
}

TEST(Profile, OfAnotherDeviceIsTakenWhereAScenarioSaysSo) {
  const auto times = profiled_times(chosen("p100", "a100"), "a100", Precision::fp32, 16);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->source, "profiled: layer times on p100 at batch 16, someone");
  EXPECT_FALSE(profiled_times(chosen("none", "p100"), "p100", Precision::fp32, 16));
  EXPECT_THAT([] { chosen("p10", "a100"); },
              ThrowsMessage<InputError>(HasSubstr("expected a device the model was profiled on, got \"p10\"")));
}

auto reading_with(const std::string& pointer, const std::string& text) {
  return [=] {
    Document document = profiled();
    document.set("/variants/0/profiles/0" + pointer, text);
    read_model(document.root(), "tiny.json");
  };
}

TEST(Profile, MustTimeEveryLayerAndNoOther) {
  EXPECT_THAT(reading_with("/layers", R"({"fc": ["5 ms", "10 ms"]})"),
              ThrowsMessage<InputError>(AllOf(HasSubstr("the times of every layer"), HasSubstr("none of \"relu\""))));
  EXPECT_THAT(reading_with("/layers/rely", R"(["5 ms", "10 ms"])"),
              ThrowsMessage<InputError>(HasSubstr("did you mean \"relu\"?")));
}

TEST(Profile, RefusesTimesThatAreNone) {
  EXPECT_THAT(reading_with("/layers/fc", R"(["5 ms"])"), ThrowsMessage<InputError>(HasSubstr("two times")));
  EXPECT_THAT(reading_with("/layers/fc", R"(["5 ms", "-1 ms"])"), ThrowsMessage<InputError>(HasSubstr("negative")));
  EXPECT_THAT(reading_with("/layers", R"({"fc": ["0 ms", "0 ms"], "relu": ["0 ms", "0 ms"]})"),
              ThrowsMessage<InputError>(HasSubstr("a layer that takes time")));
  EXPECT_THROW(reading_with("/batch", "0")(), InputError);
  EXPECT_THROW(reading_with("/update", "2")(), InputError);
}

}}  // namespace farandole::profile_test
