// Traces of real training become workloads: what is in them, and what is refused.
#include "calibration/traces/traces.hpp"

#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibration/trace_samples.hpp"
#include "workload/profile.hpp"

namespace farandole::traces_test { namespace {

using testing::HasSubstr;

template <class Read>
std::string refusal(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(HorovodTimeline, TensorsAreLayersInTheOrderOfTheForwardPass) {
  const HorovodTrace trace = read_horovod_timeline(test::horovod_timeline(), "t.json");
  ASSERT_EQ(trace.workload.layers.size(), 2U);
  EXPECT_EQ(trace.workload.layers[0].name, "allreduce.conv.weight");  // ready last: first in the forward pass
  EXPECT_EQ(trace.workload.layers[0].tensors[0].shape, (std::vector<std::int64_t>{64, 3, 7, 7}));
  EXPECT_EQ(trace.workload.layers[1].tensors[0].shape, (std::vector<std::int64_t>{10, 512}));
  EXPECT_EQ(trace.iterations, 3);
}

TEST(HorovodTimeline, TimesAreThoseBetweenTensorsThatAreReady) {
  const HorovodTrace trace = read_horovod_timeline(test::horovod_timeline(), "t.json");
  EXPECT_NEAR(trace.workload.layers[0].backward.si(), 15e-3, 1e-12);  // 25 - 10 ms
  EXPECT_NEAR(trace.workload.layers[0].forward.si(), 50e-3, 1e-12);   // from 60 ms to 110 ms
  EXPECT_NEAR(trace.negotiation.si(), 2e-3, 1e-12);
  EXPECT_NEAR(trace.cycle.value().si(), 105e-3, 1e-12);
}

TEST(HorovodTimeline, BecomesAModelThatCanBeRead) {
  const Document file = workload_file(read_horovod_timeline(test::horovod_timeline(), "t.json").workload, "s.json");
  const Model model = read_model(file.root(), "t.json").variants.at(0);
  EXPECT_EQ(model.parameters(), 64 * 3 * 7 * 7 + 10 * 512);
  const auto times = profiled_times(profiles_of(file.root(), model), "any device", Precision::fp16, 1);
  ASSERT_TRUE(times);
  EXPECT_NEAR(times->backward.at(0).si(), 15e-3, 1e-12);
}

TEST(HorovodTimeline, LessThanTwoIterationsAreRefused) {
  EXPECT_THAT(refusal([&] { read_horovod_timeline("[" + test::horovod_tensor(1, 1, 2, 3, "[2]"), "t.json"); }),
              HasSubstr("at least two iterations"));
}

TEST(HorovodTimeline, ANegotiationThatEndsBeforeItBeginsIsRefusedAtItsLine) {
  const std::string good = test::horovod_tensor(1, 1, 2, 3, "[2]");
  EXPECT_THAT(
      refusal([&] { read_horovod_timeline("[" + good + test::horovod_tensor(1, 12, 11, 13, "[2]"), "t.json"); }),
      HasSubstr("t.json:10: /9: expected a negotiation that ends after its beginning, got one before it"));
}

TEST(HorovodTimeline, TimesThatNoClockHasAreRefused) {
  const std::string event = R"([{"ph": "X", "ts": 0, "dur": 0}, {"ph": "X", "ts": TIME, "dur": 0}])";
  for (const std::string time : {"1e300", "-1e300", "1e18"}) {
    std::string text = event;
    text.replace(text.find("TIME"), 4, time);
    EXPECT_THAT(refusal([&] { read_chrome_events(text, "t.json"); }), HasSubstr("/1/ts: expected microseconds within"));
  }
}

// What a clock began to count is nobody's business: the same timeline a year before gives the same workload.
TEST(HorovodTimeline, TimesBeforeZeroAreAsGoodAsOthers) {
  std::string before = "[{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"a\"}},\n";
  for (const int begin : {-300, -200, -100})
    before += test::horovod_tensor(1, begin + 10, begin + 12, begin + 30, "[2]");
  const HorovodTrace trace = read_horovod_timeline(before, "t.json");
  EXPECT_NEAR(trace.workload.layers[0].forward.si(), 80e-6, 1e-12);  // from -270 us to -190 us
}

TEST(HorovodTimeline, CyclesAreCountedInTheOrderOfTime) {
  std::string text = "[";
  for (const int moment : {10, 5, 0}) text += fmt::format(R"({{"ph": "i", "name": "CYCLE_START", "ts": {}}},)", moment);
  text += "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"args\": {\"name\": \"a\"}},\n";
  for (const int begin : {0, 100}) text += test::horovod_tensor(1, begin, begin + 1, begin + 2, "[2]");
  EXPECT_NEAR(read_horovod_timeline(text, "t.json").cycle.value().si(), 5e-6, 1e-12);
}

TEST(HorovodTimeline, AnotherTraceIsRefused) {
  EXPECT_THAT(refusal([] { read_horovod_timeline(test::profiler_trace(), "t.json"); }),
              HasSubstr("expected the timeline of Horovod's allreduces"));
  EXPECT_THAT(refusal([] { read_horovod_timeline("{}", "t.json"); }), HasSubstr("traceEvents"));
  EXPECT_THAT(refusal([] { read_horovod_timeline("[]", "t.json"); }), HasSubstr("at least one event"));
}

TEST(PytorchProfiler, OperatorsAreTheModelsLayersInOrder) {
  const ProfilerTrace trace = read_pytorch_profiler(test::profiler_trace(), "t.json", test::conv_and_linear(), 4);
  EXPECT_EQ(trace.steps, 2);
  EXPECT_FALSE(trace.on_device);
  // Forward: 100 + 50 us of the two layers, 200 us in all: the activation's 50 are spread over them.
  EXPECT_NEAR(trace.workload.layers[0].forward.si(), 100e-6 * 200 / 150, 1e-12);
  EXPECT_NEAR(trace.workload.layers[2].forward.si(), 50e-6 * 200 / 150, 1e-12);
  EXPECT_NEAR(trace.workload.layers[0].backward.si(), 300e-6, 1e-12);
  EXPECT_NEAR(trace.workload.layers[2].backward.si(), 100e-6, 1e-12);
  EXPECT_NEAR(trace.workload.update.si(), 40e-6, 1e-12);
}

TEST(PytorchProfiler, KernelsCountWhereThereAreAny) {
  const std::string kernel =
      R"(,
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5000, "dur": 33, "args": {"External id": 3, "correlation": 9}})";
  const ProfilerTrace trace = read_pytorch_profiler(test::profiler_trace(kernel), "t.json", test::conv_and_linear(), 4);
  EXPECT_TRUE(trace.on_device);
  EXPECT_NEAR(trace.workload.layers[0].forward.si(), 33e-6, 1e-12);  // launched inside the convolution
  EXPECT_EQ(trace.workload.layers[2].forward, Seconds(0));
}

// 60,000 operators one after the other, with a kernel of 2 us each, before a convolution with one of 40 us. Looking at
// all operators for each of them, 3.6 x 10^9 times, would take half a minute.
TEST(PytorchProfiler, OperatorsAreLookedForWithinTheTimeOfAnotherOnly) {
  constexpr int operators = 60'000;
  const auto kernel = [](int id, int duration) {
    return fmt::format(R"(,{{"ph": "X", "cat": "kernel", "ts": 0, "dur": {}, "args": {{"External id": {}}}}})",
                       duration, id);
  };
  std::string text = "[" + test::profiler_step(1, 0) + kernel(2, 40);
  text.replace(text.find("ProfilerStep#1"), 14, "user_step");  // so that all of it is one
  for (int i = 0; i < operators; ++i) {
    text += "," + test::profiler_operator("aten::relu", 10 * i - 1'000'000, 5, 100 + i) + kernel(100 + i, 2);
  }
  const std::clock_t begin = std::clock();
  const ProfilerTrace trace = read_pytorch_profiler(text + "]", "t.json", test::conv_and_linear(), 4);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5);  // seconds of the processor
  EXPECT_NEAR(trace.workload.layers[0].forward.si(), operators * 2e-6 + 40e-6, 1e-9);
}

TEST(PytorchProfiler, AModelOfOtherLayersIsRefused) {
  Model other = test::conv_and_linear();
  other.layers.push_back(other.layers[0]);
  EXPECT_THAT(refusal([&] { read_pytorch_profiler(test::profiler_trace(), "t.json", other, 4); }),
              HasSubstr("expected as many conv2d in the forward pass of a step as the model has, 2, got 1"));
}

TEST(PytorchProfiler, AnotherTraceIsRefused) {
  EXPECT_THAT(refusal([] { read_pytorch_profiler(test::horovod_timeline(), "t.json", test::conv_and_linear(), 1); }),
              HasSubstr("expected a trace of PyTorch's profiler"));
}

}}  // namespace farandole::traces_test
