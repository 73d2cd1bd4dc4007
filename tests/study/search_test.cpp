// Searches over small scenarios, against all points run by hand.
#include "study/search.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace farandole::search_test { namespace {

using testing::HasSubstr;

constexpr const char* scenario = R"({
  "name": "small",
  "workload": { "model": "resnet18", "batch_per_rank": 32 },
  "platform": { "topology": "ethernet-25g", "ranks": 8 },
  "strategy": { "kind": "horovod", "version": "0.19.0" },
  "measure": { "iterations": 3, "warmup": 1, "fidelity": "analytic" },
  "run": { "samples": 64000, "epochs": 2 },
  "economics": { "offer": "aws-p4d-on-demand" }
})";

Document with(const std::string& optimise) {
  Document document = Document::parse(scenario, "small.json");
  document.set("/optimise", optimise);
  return document;
}

SearchResult result_of(const std::string& optimise) {
  const Document document = with(optimise);
  const Catalogue catalogue;
  const RunAll run = [&](const RunPlan& plan) {
    std::vector<TrainingPoint> points;
    for (const RunPlan::Point& point : plan.points) points.push_back(run_point(point, catalogue, nullptr));
    return points;
  };
  return search(document, *read_search(document), catalogue, {}, run);
}

std::string error_of(const std::string& optimise) {
  try {
    const Document document = with(optimise);
    read_search(document);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Search, OfAGridRunsEveryPointAndNamesTheBest) {
  const SearchResult result = result_of(
      R"({ "minimise": "iteration_seconds", "over": { "/collectives": [{ "allreduce": "ring" }, { "allreduce": "recursive_doubling" }],
           "/strategy/compression": ["none", "fp16"] } })");
  ASSERT_EQ(result.points.size(), 4U);
  const auto best = std::ranges::min_element(result.points, {}, &TrainingPoint::iteration);
  EXPECT_EQ(result.optimum.point, static_cast<std::size_t>(best - result.points.begin()));
  EXPECT_EQ(result.optimum.points_run, 4);
  EXPECT_EQ(result.optimum.feasible, 4);
  EXPECT_THAT(result.answer, HasSubstr("The least iteration_seconds: "));
  EXPECT_THAT(result.answer, HasSubstr("4 points were run"));
}

TEST(Search, OfTheSmallestClusterStopsAtTheFirstThatMeetsTheDeadline) {
  const SearchResult all =
      result_of(R"({ "maximise": "samples_per_second", "over": { "/platform/ranks": [16, 1, 4, 8, 2] } })");
  // A deadline between what 4 and 8 ranks take.
  const auto time_of = [&](int ranks) {
    return std::ranges::find(all.points, ranks, &TrainingPoint::ranks)->run->total.si();
  };
  const std::string deadline = std::to_string((time_of(4) + time_of(8)) / 2) + " s";
  const SearchResult first = result_of(R"({ "minimise": "ranks", "subject_to": { "run_seconds": { "at_most": ")" +
                                       deadline + R"(" } }, "over": { "/platform/ranks": [16, 1, 4, 8, 2] } })");
  EXPECT_EQ(first.optimum.method, "first");
  EXPECT_EQ(first.points[first.optimum.point].ranks, 8);
  EXPECT_EQ(first.optimum.points_run, 4);  // 1, 2, 4 and 8
}

/// What does not fit into memory is no candidate, and no error.
TEST(Search, LeavesOutWhatDoesNotFitIntoMemory) {
  const auto over = [](const std::string& batches) {
    return result_of(R"({ "maximise": "samples_per_second", "over": {
        "/platform": [{"topology": "hgx-h100", "ranks": 8}],
        "/strategy": [{"kind": "ddp"}, {"kind": "fsdp"}, {"kind": "zero", "stage": 2}],
        "/workload": [)" +
                     batches + "] } }");
  };
  const auto batch = [](int size, const char* recompute) {
    return R"({"model": "llama3_8b", "variant": "seq8192", "precision": "bf16", "optimizer": "adam", "batch_per_rank": )" +
           std::to_string(size) + R"(, "recompute": ")" + recompute + "\"}";
  };
  const SearchResult result = over(batch(1, "full") + ", " + batch(64, "none"));
  EXPECT_EQ(result.points.size() + static_cast<std::size_t>(result.too_large), 6U);
  EXPECT_GE(result.too_large, 4);  // batches of 64 without recomputation, and ddp, which keeps all of Adam
  EXPECT_EQ(result.optimum.points_run, static_cast<int>(result.points.size()));
  EXPECT_THAT(result.answer, HasSubstr(std::to_string(result.too_large) + " more do not fit into memory."));
  for (const auto& choices : result.choices) EXPECT_THAT(choices.at(1).value, testing::Not(HasSubstr("ddp")));
  EXPECT_THROW(over(batch(64, "none")), InputError);  // none fits: refused as one of them would be
}

TEST(Search, SaysWhenNothingKeepsTheBounds) {
  const SearchResult result =
      result_of(R"({ "minimise": "cost_per_run", "subject_to": { "run_seconds": { "at_most": "1 ms" } },
                                             "over": { "/platform/ranks": [2, 4] } })");
  EXPECT_EQ(result.optimum.feasible, 0);
  EXPECT_THAT(result.answer, HasSubstr("None of 2 points has run_seconds at most 1 ms"));
}

TEST(Search, OfAnOpenRangeIsNoWorseThanAGridOverIt) {
  const SearchResult open = result_of(
      R"({ "minimise": "iteration_seconds", "over": { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB" } } })");
  const SearchResult grid = result_of(
      R"({ "minimise": "iteration_seconds", "over": { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB", "factor": 4 } } })");
  EXPECT_LE(open.optimum.value, grid.optimum.value * 1.05);
  EXPECT_LE(open.optimum.points_run, 60);
  EXPECT_FALSE(open.optimum.flat.empty());
}

TEST(Search, OfSeveralOpenRangesKeepsToItsNumberOfEvaluations) {
  const SearchResult result = result_of(
      R"({ "minimise": "iteration_seconds", "evaluations": 20,
           "over": { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB" },
                     "/strategy/cycle_time": { "from": "0.5 ms", "to": "20 ms" } } })");
  EXPECT_LE(result.optimum.points_run, 20);
  EXPECT_EQ(result.points[result.optimum.point].iteration.si(), result.optimum.value);
}

TEST(Search, OfTheWholeSpaceIsNoWorseThanGoldenSectionNearby) {
  const std::string global =
      R"({ "minimise": "iteration_seconds", "method": "global", "evaluations": 30,
           "over": { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB" } } })";
  if (error_of(global).find("without NLopt") != std::string::npos)
    GTEST_SKIP() << "built without NLopt; tools/setup optional installs it";
  const SearchResult found = result_of(global);
  const SearchResult golden = result_of(
      R"({ "minimise": "iteration_seconds", "over": { "/strategy/fusion_threshold": { "from": "1 MiB", "to": "256 MiB" } } })");
  EXPECT_LE(found.optimum.points_run, 30);
  EXPECT_LE(found.optimum.value, golden.optimum.value * 1.05);
}

TEST(Search, RefusesWhatItCannotDo) {
  EXPECT_THAT(error_of(R"({ "minimise": "run_second", "over": { "/platform/ranks": [1] } })"),
              HasSubstr("did you mean \"run_seconds\"?"));
  EXPECT_THAT(error_of(R"({ "over": { "/platform/ranks": [1] } })"), HasSubstr("either \"minimise\" or \"maximise\""));
  EXPECT_THAT(error_of(R"({ "minimise": "ranks", "over": {} })"), HasSubstr("at least one pointer"));
  EXPECT_THAT(
      error_of(
          R"({ "minimise": "ranks", "over": { "/platform/ranks": [1], "/strategy/cycle_time": { "from": "1 ms", "to": "2 ms" } } })"),
      HasSubstr("either lists"));
  EXPECT_THAT(
      error_of(
          R"({ "minimise": "ranks", "subject_to": { "run_seconds": { "at_most": "6 kg" } }, "over": { "/platform/ranks": [1] } })"),
      HasSubstr("expected a time"));
  EXPECT_THAT(
      error_of(
          R"({ "minimise": "iteration_seconds", "method": "golden_section", "over": { "/platform/ranks": [1] } })"),
      HasSubstr("a method for lists"));
}

}}  // namespace farandole::search_test
