// farandole diagnose: every suspect is the run by hand, what was planted is found, and what it asks for next tells.
#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::diagnose_command_test { namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* scenario = R"({"name": "job", "workload": {"model": "vgg16", "batch_per_rank": 64},
  "platform": {"topology": "roce25-4xp100", "ranks": 16}, "strategy": {"kind": "ddp"},
  "measure": {"iterations": 2, "warmup": 1}})";

std::string seconds_text(double seconds) {
  return std::to_string(std::llround(seconds * 1e9)) + " ns";
}

/// Of 1 GiB.
std::string rate_text(double seconds) {
  return std::to_string(std::llround(1024.0 * 1024 * 1024 / seconds)) + " B/s";
}

class Diagnose : public testing::Test {
 protected:
  Diagnose() { place.write("s.json", scenario); }

  Json asked(const std::string& options) const {
    const test::Finished done = place.farandole("diagnose s.json --format json " + options);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }
  /// Steps of all ranks, of one node and on synthetic data, and two allreduces.
  Json measured(const std::vector<double>& seconds) const {
    const auto text = [&](std::size_t which) { return seconds_text(seconds.at(which)); };
    return asked("--measured '" + text(0) + "' --measured '" + text(1) + " on 4 ranks' --synthetic '" + text(2) +
                 "' --allreduce '256 MiB in " + text(3) + "' --allreduce '256 MiB in " + text(4) + " on 8'");
  }
  std::string refused(const std::string& options) const {
    const test::Finished done = place.farandole("diagnose s.json " + options);
    EXPECT_EQ(done.status, 2) << options;
    EXPECT_EQ(done.out, "");
    return done.err;
  }
  static std::vector<double> expected(const Json& answer) {
    std::vector<double> seconds;
    for (const Json& one : answer.at("measured")) seconds.push_back(one.at("expected_seconds"));
    return seconds;
  }

  const test::Workplace place;
};

TEST_F(Diagnose, CallsAJobHealthyThatTakesWhatIsExpected) {
  const std::vector<double> healthy = expected(measured({1, 1, 1, 1, 1}));
  const Json answer = measured(healthy);
  EXPECT_EQ(answer.at("suspects").at(0).at("name"), "healthy");
  EXPECT_GT(answer.at("suspects").at(0).at("probability").get<double>(), 0.8);
  EXPECT_FALSE(answer.at("unexplained").get<bool>());
}

TEST_F(Diagnose, PredictsOfEverySuspectWhatItGivesByHand) {
  const Json answer = measured({1, 1, 1, 1, 1});
  std::size_t count = 0;
  for (const Json& suspect : answer.at("suspects")) {
    const Json& one = suspect.at("severities").back();
    std::string line = "run s.json --format json --quiet";
    for (const auto& [pointer, value] : one.at("set").items()) line += " --set '" + pointer + "=" + value.dump() + "'";
    const test::Finished done = place.farandole(line);
    ASSERT_EQ(done.status, 0) << done.err;
    EXPECT_DOUBLE_EQ(Json::parse(done.out).at("points").at(0).at("iteration_seconds"),
                     one.at("predicted_seconds").at(0))
        << suspect.at("name");
    ++count;
  }
  EXPECT_GE(count, 10U);
}

TEST_F(Diagnose, PrintsNumbersThatCanBeTyped) {
  for (const Json& suspect : asked("--measured '1 s'").at("suspects")) {
    for (const Json& one : suspect.at("severities"))
      EXPECT_THAT(one.at("set").dump(), testing::Not(testing::ContainsRegex("[.][0-9]{6}"))) << suspect.at("name");
  }
}

TEST_F(Diagnose, FindsWhatWasPlanted) {
  const Json suspects = measured({1, 1, 1, 1, 1}).at("suspects");
  std::size_t planted = 0;
  for (const Json& suspect : suspects) {
    if (suspect.at("name") == "healthy") continue;
    const Json answer = measured(suspect.at("severities").back().at("predicted_seconds"));
    std::vector<std::string> first;
    for (std::size_t which = 0; which < 3; ++which) first.push_back(answer.at("suspects").at(which).at("name"));
    EXPECT_THAT(first, testing::Contains(suspect.at("name").get<std::string>()));
    ++planted;
  }
  EXPECT_GE(planted, 8U);
}

TEST_F(Diagnose, SharesOneProbabilityOutAndTakesWhatIsRuledOutFromIt) {
  const auto total = [](const Json& answer) {
    double sum = 0;
    for (const Json& one : answer.at("suspects")) sum += one.at("probability").get<double>();
    return sum;
  };
  const Json all = asked("--measured '2 s'");
  const Json less = asked("--measured '2 s' --rule-out straggler --rule-out one_nic");
  EXPECT_NEAR(total(all), 1, 1e-12);
  EXPECT_NEAR(total(less), 1, 1e-12);
  EXPECT_EQ(less.at("suspects").size() + 2, all.at("suspects").size());
  for (const Json& one : less.at("suspects")) EXPECT_NE(one.at("name"), "straggler");
}

TEST_F(Diagnose, AsksForAMeasurementThatTellsTheFirstTwoApart) {
  const Json first = asked("--measured '900 ms'");
  const Json next = first.at("next");
  ASSERT_TRUE(next.is_object());
  for (const bool is_first : {true, false}) {
    const std::string time = seconds_text(next.at(is_first ? "first_seconds" : "second_seconds"));
    const std::string ranks = std::to_string(next.at("ranks").get<int>());
    const std::map<std::string, std::string> options{
        {"step", "--measured '" + time + " on " + ranks + "'"},
        {"step_on_synthetic_data", "--synthetic '" + time + "'"},
        {"kernels", "--kernels '" + time + "'"},
        {"allreduce", "--allreduce '256 MiB in " + time + " on " + ranks + "'"},
        {"nic_write", "--nic '" + rate_text(next.at(is_first ? "first_seconds" : "second_seconds")) + "'"}};
    const std::string option = options.at(next.at("of"));
    EXPECT_EQ(next.at("between").at(0), first.at("suspects").at(0).at("name"));
    EXPECT_EQ(next.at("between").at(1), first.at("suspects").at(1).at("name"));
    std::map<std::string, double> after;
    const Json second = asked("--measured '900 ms' " + option);
    for (const Json& one : second.at("suspects")) after[one.at("name")] = one.at("probability");
    const auto of = [&](std::size_t which) {
      return after.at(first.at("suspects").at(which).at("name").get<std::string>());
    };
    EXPECT_GT(of(is_first ? 0 : 1), of(is_first ? 1 : 0)) << option;
  }
}

TEST_F(Diagnose, SaysWhereNothingExplainsAStep) {
  EXPECT_TRUE(asked("--measured '1 min'").at("unexplained").get<bool>());
  EXPECT_THAT(place.farandole("diagnose s.json --measured '1 min'").out,
              HasSubstr("is the scenario the job that was measured?"));
}

// Each suspect had a copy of all 730,000 links, 3 GiB together.
TEST_F(Diagnose, KeepsNoMachineOfEverySuspectWhereItIsLarge) {
  place.write("large.json", R"({"name": "n", "workload": {"model": "gpt2_small", "batch_per_rank": 1},
    "platform": {"topology": "aurora", "ranks": 24}, "strategy": {"kind": "ddp"}, "measure": {"iterations": 1}})");
  const test::Finished done =
      place.run("ulimit -v 1600000; " FARANDOLE_PROGRAM " diagnose large.json --measured '1 s' --format json");
  EXPECT_EQ(done.status, 0) << done.err;
}

TEST_F(Diagnose, CallsNoStepHealthyOfWhichSomethingElseIsLikelier) {
  for (const auto& [time, is_healthy] : std::map<std::string, bool>{{"590 ms", true}, {"700 ms", false}}) {
    const Json answer = asked("--measured '" + time + "'");
    const Json first = answer.at("suspects").at(0);
    ASSERT_EQ(first.at("name"), "healthy") << time;
    EXPECT_EQ(first.at("probability").get<double>() >= 0.5, is_healthy) << time;
    const std::string said = answer.at("answer");
    EXPECT_EQ(said.find("as it should be") != std::string::npos, is_healthy) << said;
  }
}

TEST_F(Diagnose, CallsNoStepHealthyThatIsOutsideItsInterval) {
  const double expected = asked("--measured '1 s'").at("measured").at(0).at("expected_seconds");
  const auto said = [&](double seconds) {
    return place.farandole("diagnose s.json --measured '" + seconds_text(seconds) + "'").out;
  };
  EXPECT_THAT(said(expected), HasSubstr("That is as it should be"));
  EXPECT_THAT(said(expected * .7), testing::Not(HasSubstr("That is as it should be")));
  // Of healthy jobs one in five is outside of an 80 % interval.
  const Json band = asked("--measured '1 s'").at("measured").at(0).at("band");
  EXPECT_THAT(said(band.at(1).get<double>() * 1.02), HasSubstr("That is outside its 80 % interval, inside that of 95"));
}

TEST_F(Diagnose, TakesStepAndKernelsOfATrace) {
  // Steps of 500, 620 and 510 ms, each with 400 ms of products, 50 beside a collective of 80 ms.
  std::string events;
  double begin = 0;
  for (const auto& [step, milliseconds] : std::map<int, double>{{1, 620}, {2, 500}, {3, 510}}) {
    const auto event = [&](const std::string& category, const std::string& name, int stream, double from,
                           double lasts) {
      events += std::string(events.empty() ? "" : ",") + R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" +
                name + R"(", "pid": 0, "tid": )" + std::to_string(stream) + R"(, "ts": )" +
                std::to_string(1e3 * (begin + from)) + R"(, "dur": )" + std::to_string(1e3 * lasts) + "}";
    };
    event("user_annotation", "ProfilerStep#" + std::to_string(step), 1, 0, milliseconds);
    event("kernel", "ampere_sgemm_128x64_nn", 7, 0, 400);
    event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, 350, 80);
    begin += milliseconds;
  }
  place.write("trace.json", R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  const Json measured = asked("--trace trace.json").at("measured");
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_NEAR(measured.at(0).at("measured_seconds"), .510, 1e-9);
  EXPECT_EQ(measured.at(1).at("of"), "kernels");
  EXPECT_NEAR(measured.at(1).at("measured_seconds"), .400, 1e-9);
  place.write("unmarked.json", R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel",
    "name": "ampere_sgemm_128x64_nn", "pid": 0, "tid": 7, "ts": 0, "dur": 5}]})");
  EXPECT_THAT(refused("--trace unmarked.json"), HasSubstr("--trace: expected a trace that marks its steps"));
}

TEST_F(Diagnose, TakesTheAllreduceOfAFileThatIsNearestTo256MiB) {
  std::string points;
  for (const auto& [bytes, seconds] : std::map<std::string, std::string>{
           {"1048576", "1e-3"}, {"134217728", "2e-2"}, {"268435456", "4e-2"}, {"1073741824", "1.6e-1"}})
    points += std::string(points.empty() ? "" : ",") +
              R"({"op": "allreduce", "algorithm": "library", "ranks": 8, "bytes": )" + bytes + R"(, "seconds": )" +
              seconds + "}";
  place.write("allreduce.json", R"({"points": [)" + points + "]}");
  const Json measured = asked("--measured '600 ms' --allreduce allreduce.json").at("measured").at(1);
  EXPECT_DOUBLE_EQ(measured.at("measured_seconds"), 4e-2);
  EXPECT_EQ(measured.at("ranks"), 8);
  EXPECT_DOUBLE_EQ(measured.at("bytes"), 268435456);
  // It is the user's, and what is no file is a size and a time, however long.
  const std::string content = test::contents(place.folder() / "allreduce.json");
  EXPECT_THAT(refused("--allreduce allreduce.json --format json --output allreduce.json"), HasSubstr("--allreduce"));
  EXPECT_EQ(test::contents(place.folder() / "allreduce.json"), content);
  EXPECT_THAT(refused("--allreduce " + std::string(5000, 'x')), HasSubstr("or a file of nccl-tests"));
}

// 24 Gbit/s of NICs of 25 are as they should be; 12.5 are half of it.
TEST_F(Diagnose, KnowsASlowNicAndASlowBusByTheirRates) {
  const auto first = [&](const std::string& options) {
    return asked("--measured " + options).at("suspects").at(0).at("name").get<std::string>();
  };
  EXPECT_EQ(first("'600 ms' --nic '24 Gbit/s'"), "healthy");
  EXPECT_THAT(first("'1100 ms' --nic '12.5 Gbit/s'"), testing::AnyOf("nic_rate", "one_nic", "background"));
  EXPECT_THAT(first("'1100 ms' --nic '24 Gbit/s'"), testing::Not(testing::AnyOf("nic_rate", "one_nic", "background")));
  EXPECT_EQ(first("'600 ms' --copy '11.5 GB/s'"), "healthy");
  EXPECT_EQ(first("'600 ms' --copy '6 GB/s'"), "pcie");
}

TEST_F(Diagnose, TakesTheMedianOfALogOfSteps) {
  place.write("log", "# step times\n1 s\n\n400 ms  # the second\n500 ms\r\n");
  EXPECT_DOUBLE_EQ(asked("--steps log").at("measured").at(0).at("measured_seconds"), 0.5);
  place.write("bad", "1 s\nfast\n");
  EXPECT_THAT(refused("--steps bad"), HasSubstr("bad:2: expected a time"));
  EXPECT_THAT(refused("--steps /dev/zero"), HasSubstr("/dev/zero: expected a readable file, got a device"));
  place.write("empty", "# nothing\n");
  EXPECT_THAT(refused("--steps empty"), HasSubstr("--steps: expected a file with a time"));
}

constexpr const char* mlperf_head =
    "+ NODELIST=n1\n0: :::MLLOG {\"time_ms\": 1000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"global_batch_size\", "
    "\"value\": 8, \"metadata\": {\"lineno\": 1}}\n";

std::string mlperf_block(const char* key, int milliseconds, int samples) {
  return ":::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(milliseconds) + ", \"key\": \"" + key +
         "\", \"value\": null, \"metadata\": {\"samples_count\": " + std::to_string(samples) + "}}\n";
}

/// 192 samples are 24 steps of 8: 12 s and 14.4 s of blocks are 500 and 600 ms a step; 20 samples/s are 400 ms.
TEST_F(Diagnose, TakesTheStepsOfAnMlperfLog) {
  const auto seconds = [&](const std::string& log) {
    place.write("log", log);
    return asked("--steps log").at("measured").at(0).at("measured_seconds").get<double>();
  };
  const std::string throughput =
      ":::MLLOG {\"time_ms\": 5, \"key\": \"tracked_stats\", \"value\": {\"throughput\": 20}}\n";
  EXPECT_DOUBLE_EQ(seconds(mlperf_head + throughput), 0.4);
  const std::string block = mlperf_block("block_start", 2000, 0) + throughput + mlperf_block("block_stop", 14000, 192);
  EXPECT_DOUBLE_EQ(seconds(mlperf_head + block), 0.5);
  const std::string second = mlperf_block("block_start", 20000, 192) + mlperf_block("block_stop", 34400, 384);
  EXPECT_DOUBLE_EQ(seconds(mlperf_head + second), 0.6);
  EXPECT_DOUBLE_EQ(seconds(":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 0.7}}\n" + block),
                   0.7);
  EXPECT_DOUBLE_EQ(seconds(":::MLLOG {\"key\": 7}\n" + (mlperf_head + throughput)), 0.4) << "a key that is no text";
  place.write("bad", mlperf_head + std::string(":::MLLOG {\"key\": \n"));
  EXPECT_THAT(refused("--steps bad"), HasSubstr("bad:3: /: expected a JSON object behind :::MLLOG"));
  place.write("none", mlperf_head);
  EXPECT_THAT(refused("--steps none"), HasSubstr("none: /: expected an MLPerf log with \"train_step_time\""));
}

std::string mlperf_says(const char* key, const std::string& value, const std::string& metadata = "{}") {
  return std::string(
             "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": 1000, \"event_type\": \"POINT_IN_TIME\", \"key\": \"") +
         key + "\", \"value\": " + value + ", \"metadata\": " + metadata + "}\n";
}

/// Llama 3.1 8B and Llama 2 70B LoRA log samples/s: 16 of them at 32 samples/s are 0.5 s. GPT-3 counts tokens, and its
/// throughput is theirs: 16 x 2,048 of them at 40,960 tokens/s are 0.8 s.
TEST_F(Diagnose, TakesAThroughputOfMlperfForWhatItsBenchmarkCounts) {
  const auto log = [](const char* benchmark, const char* throughput) {
    return mlperf_says("submission_benchmark", benchmark) + mlperf_says("global_batch_size", "16") +
           mlperf_says("max_sequence_length", "2048") +
           mlperf_says("tracked_stats", std::string("{\"throughput\": ") + throughput + "}", "{\"step\": 172032}");
  };
  const auto seconds = [&](const std::string& text) {
    place.write("log", text);
    return asked("--steps log").at("measured").at(0).at("measured_seconds").get<double>();
  };
  EXPECT_DOUBLE_EQ(seconds(log("\"llama31_8b\"", "32")), 0.5);
  EXPECT_DOUBLE_EQ(seconds(log("\"llama2_70b_lora\"", "32")), 0.5);
  EXPECT_DOUBLE_EQ(seconds(log("\"gpt3\"", "40960")), 0.8);
  EXPECT_DOUBLE_EQ(seconds(log("\"gpt3\"", "40960") + mlperf_says("tracked_stats", "{\"train_step_timing\": 0.75}")),
                   0.75);
  std::string shorter = log("\"gpt3\"", "40960");
  place.write("no-length", shorter.replace(shorter.find("max_seq"), 7, "any_seq"));
  EXPECT_THAT(refused("--steps no-length"),
              HasSubstr("no-length: /: expected \"max_sequence_length\" beside a throughput of tokens, got none"));
  place.write("whose", log("\"\"", "40960"));
  EXPECT_THAT(refused("--steps whose"),
              HasSubstr("whose: /: expected \"submission_benchmark\", which says whether the"));
}

/// Every tenth step is logged, 5 s apart, and once 6 s; cells without a number are of another row's columns.
TEST_F(Diagnose, TakesTheStepsOfATableOfWeightsAndBiases) {
  const auto seconds = [&](const std::string& log) {
    place.write("log", log);
    return asked("--steps log").at("measured").at(0).at("measured_seconds").get<double>();
  };
  EXPECT_DOUBLE_EQ(seconds("_step,_runtime,train/loss\n0,20.5,3\n10,25.5,\n20,30.5,2\n,,7\n30,36.5,2\n"), 0.5);
  EXPECT_DOUBLE_EQ(seconds("\"Step\",\"run, first - _runtime\"\r\n\"0\",\"20\"\r\n\"10\",\"25\"\r\n"), 0.5);
  place.write("bad", "_step,_runtime\n0,soon\n");
  EXPECT_THAT(refused("--steps bad"), HasSubstr("bad:2: /: expected a number, got \"soon\""));
  place.write("one", "_step,_runtime\n0,1\n");
  EXPECT_THAT(refused("--steps one"), HasSubstr("expected two rows with a _step and a later _runtime, got none"));
  place.write("stepless", "epoch,_runtime\n0,1\n");
  EXPECT_THAT(refused("--steps stepless"), HasSubstr("stepless:1: /: expected a column _step or Step beside _runtime"));
}

TEST_F(Diagnose, IsOfASweepsLastConfigurationAndSaysHowToRunIt) {
  const std::string sweep = "--set '/sweep={\"/platform/ranks\":[4,16]}' --measured '2 s'";
  const Json answer = asked(sweep);
  EXPECT_EQ(answer.at("configuration"), Json::parse(R"({"/sweep": {}, "/platform/ranks": 16})"));
  EXPECT_EQ(answer.at("measured"), asked("--measured '2 s'").at("measured"));
}

TEST_F(Diagnose, TakesTenIterationsWhereTheScenarioHasMore) {
  const Json answer = asked("--set '/measure={}' --measured '2 s'");
  EXPECT_EQ(answer.at("configuration"), Json::parse(R"({"/measure/iterations": 10, "/measure/warmup": 1})"));
  const std::string by_hand = " --set '/measure={\"iterations\": 10, \"warmup\": 1, \"bands\": false}'";
  const Json run = Json::parse(place.farandole("run s.json --quiet --format json" + by_hand).out);
  EXPECT_NEAR(answer.at("measured").at(0).at("expected_seconds").get<double>() /
                  run.at("points").at(0).at("iteration_seconds").get<double>(),
              1, 1e-9);
}

TEST_F(Diagnose, TakesAJobThatWasMeasuredForSureOnItsRanks) {
  const std::string row = "/workload/measured=[{\"ranks\": 4, \"batch_per_rank\": 64, \"iteration_seconds\": 0.6}]";
  const Json known = asked("--set '" + row + "' --measured '610 ms on 4'").at("measured").at(0);
  EXPECT_NEAR(known.at("expected_seconds").get<double>(), 0.6, 1e-9);
  EXPECT_LT(known.at("band").at(1).get<double>() / 0.6, 1.02);
  EXPECT_EQ(asked("--set '/measure/bands=false' --measured '1 s'").at("measured"),
            asked("--measured '1 s'").at("measured"));
}

TEST_F(Diagnose, HasNoSuspectThatTheJobCannotHave) {
  std::vector<std::string> names;
  const Json alone = asked("--set /platform/ranks=1 --measured '900 ms'");
  for (const Json& one : alone.at("suspects")) names.push_back(one.at("name"));
  EXPECT_THAT(names, testing::UnorderedElementsAre("healthy", "clocks", "decode"));
}

TEST_F(Diagnose, RefusesWhatIsWrong) {
  for (const auto& [options, words] : std::map<std::string, std::string>{
           {"", "--measured: expected what a step takes"},
           {"--measured '0 s'", "--measured: expected a time above zero"},
           {"--measured '1 s on many'", "expected a number of ranks behind \"on\""},
           {"--measured '1 s on 17'", "--measured: expected 1 to the 16 ranks of the scenario, got \"17\""},
           {"--allreduce '256 MiB'", "--allreduce: expected a size and a time"},
           {"--allreduce '1 GiB in 1 s on 1'", "--allreduce: expected 2 to the 16 ranks"},
           {"--kernels fast", "--kernels: expected"},
           {"--nic '20 Gbit/s'", "--measured: expected what a step takes"},
           {"--measured '1 s' --nic '0 Gbit/s'", "--nic: expected a rate above zero"},
           {"--measured '1 s' --nic fast", "--nic: expected"},
           {"--set /platform/ranks=4 --measured '1 s' --nic '20 Gbit/s'",
            "--nic: expected a machine whose file gives that"},
           {"--measured '1 s' --rule-out stragler", "did you mean \"straggler\"?"},
           {"--measured '1 s' --format csv", "--format: expected table or json"}})
    EXPECT_THAT(refused(options), HasSubstr(words));
}

TEST_F(Diagnose, AnswersInTheFormOfItsSchemaAndOnAPage) {
  EXPECT_EQ(place.farandole("diagnose s.json --measured '1 s' --format json --output a.json --html a.html").status, 0);
  EXPECT_EQ(place.farandole("check a.json").out, "a.json: diagnose_answer, ok\n");
  std::string text = test::contents(place.folder() / "a.json");
  place.write("b.json", text.replace(text.find("\"suspects\""), 10, "\"suspicts\""));
  EXPECT_THAT(place.farandole("check b.json").err, HasSubstr("suspects"));
  EXPECT_THAT(test::contents(place.folder() / "a.html"), HasSubstr("where to look"));
}

}}  // namespace farandole::diagnose_command_test
