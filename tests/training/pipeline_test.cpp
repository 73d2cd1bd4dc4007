// Stages of a pipeline on a clock: when 1F1B is over, by hand and by the longest way through what depends on what.
#include <algorithm>
#include <map>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "simulate/max_min_network.hpp"
#include "training/staged_trainer.hpp"
#include "training/strategy_kit.hpp"
#include "training/training_run.hpp"

namespace farandole::pipeline_test { namespace {

struct Work {
  double forward;
  double backward;
};

/// Stages of one rank each, without gradients; a message of one byte takes so many seconds.
class Pipeline {
 public:
  class Link final : public CollectiveClock {
   public:
    explicit Link(double seconds) : seconds_(seconds) {}
    Answer answer(Bytes size, const RankTimes& start) override {
      ++messages;
      return {start.maxCoeff() + RankTimes::Constant(start.size(), size.si() * seconds_), {}};
    }
    int messages = 0;

   private:
    double seconds_;
  };

  Pipeline(const std::vector<Work>& stages, int passes, double message,
           const std::string& strategy = R"({"kind": "ddp"})", const std::vector<Gradient>& gradients = {},
           int ranks = 1, Timeline* timeline = nullptr)
      : link(message),
        simulator_(std::make_unique<MaxMinNetwork>()),
        variability_(static_cast<int>(stages.size()) * ranks, 0, 0, 1),
        document_(Document::parse(strategy, "strategy.json")),
        choice_(read_strategy(document_.root(), {}, ranks)) {
    std::vector<StageOnSite> on;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      Job job;
      job.layers.push_back({Seconds(stages[stage].forward), Seconds(stages[stage].backward)});
      job.backward_end = Seconds(stages[stage].forward + stages[stage].backward);
      job.gradients = gradients;
      jobs_.push_back(std::make_unique<Job>(accumulated(std::move(job), passes)));
      jobs_.back()->stage = StagePlace{static_cast<int>(stage), static_cast<int>(stages.size())};
      strategies_.push_back(choice_.make({*jobs_.back(),
                                          ranks,
                                          1,
                                          BytesPerSecond::infinity(),
                                          {BytesPerSecond::infinity()},
                                          0_s,
                                          "NCCL",
                                          1,
                                          nullptr}));
      JobSite site;
      site.ranks = ranks;
      site.clock_of = [this](const Collective&) -> CollectiveClock& { return reductions; };
      on.push_back({*jobs_.back(), std::move(site), *strategies_.back()});
    }
    BetweenStages between;
    between.handed_on.assign(stages.size() - 1, 1_B);
    between.clock_of = [this](int, int) -> CollectiveClock& { return link; };
    trainer.emplace(simulator_, std::move(on), std::move(between), variability_, timeline);
  }

  Iteration second_iteration() {
    trainer->run_iteration();
    link.messages = 0;
    return trainer->run_iteration();
  }

  Link link;
  test::SecondPerByte reductions;

 private:
  Simulator simulator_;
  Variability variability_;
  Document document_;
  StrategyChoice choice_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<std::unique_ptr<Strategy>> strategies_;

 public:
  std::optional<StagedTrainer> trainer;
};

std::vector<Work> uniform(int stages, Work work) {
  return std::vector<Work>(static_cast<std::size_t>(stages), work);
}

TEST(Pipeline, OfUniformStagesTakesAsManyPassesMoreAsItHasStagesLessOne) {
  // Narayanan et al., PipeDream-Flush; Megatron-LM (arXiv:2104.04473, section 2.2): (m + p - 1)(f + b), of which the
  // share (p - 1)/(m + p - 1) is the bubble.
  constexpr double f = 2;
  constexpr double b = 3;
  for (int p = 2; p <= 8; ++p) {
    for (int m = 1; m <= 20; ++m) {
      const Iteration iteration = Pipeline(uniform(p, {f, b}), m, 0).second_iteration();
      EXPECT_NEAR(iteration.duration.si(), (m + p - 1) * (f + b), 1e-9) << p << " stages, " << m << " passes";
      EXPECT_NEAR(iteration.exposed_between_stages / iteration.duration, (p - 1.0) / (m + p - 1), 1e-12);
      EXPECT_NEAR(iteration.computing.si(), m * (f + b), 1e-9);
    }
  }
}

TEST(Pipeline, OfTwoStagesSendsOnceForEveryPassAndOnceMore) {
  // The second stage computes all the time but while it sends a gradient and receives the next input, both at once.
  for (int m = 1; m <= 10; ++m) {
    EXPECT_NEAR(Pipeline(uniform(2, {2, 3}), m, 0.5).second_iteration().duration.si(), (m + 1) * (2 + 3 + 0.5), 1e-9);
  }
}

TEST(Pipeline, SendsEveryMicroBatchOverEveryBoundaryAndBack) {
  for (const int p : {2, 3, 5}) {
    for (const int m : {1, 2, 7}) {
      Pipeline pipeline(uniform(p, {1, 2}), m, 0.1);
      pipeline.second_iteration();
      EXPECT_EQ(pipeline.link.messages, 2 * m * (p - 1));
    }
  }
}

/// Of stages without collectives none was simulated rank by rank.
TEST(Pipeline, IsFoldedWhereAllItsCollectivesAre) {
  Pipeline pipeline(uniform(3, {1, 2}), 4, 0.1);
  const TrainingRun run = run_training(*pipeline.trainer, {3, 1});
  EXPECT_TRUE(run.provenance.folded);
  EXPECT_EQ(run.durations.size(), 3U);
  EXPECT_EQ(run.of_stages.size(), 3U);
}

/// m micro-batches, forward and backward: 2 m spans of a stage, which take m (f + b) together.
TEST(Pipeline, ShowsThePassesOfEveryStageOnItsTimeline) {
  Timeline timeline(1000);
  Pipeline pipeline(uniform(3, {1, 2}), 4, 0.1, R"({"kind": "ddp"})", {}, 1, &timeline);
  pipeline.trainer->run_iteration();
  std::map<std::string, std::pair<int, double>> stages;
  for (const Span& span : timeline.spans()) {
    if (!span.lane.starts_with("stage ")) continue;
    auto& [count, seconds] = stages[span.lane];
    ++count;
    seconds += span.duration.si();
  }
  ASSERT_EQ(stages.size(), 3U);
  for (const char* lane : {"stage 0", "stage 1", "stage 2"}) {
    EXPECT_EQ(stages[lane].first, 2 * 4);
    EXPECT_NEAR(stages[lane].second, 4 * (1 + 2), 1e-9);
  }
}

/// The longest way: a pass of a stage after the one before it in 1F1B's order, forward after that of the stage before,
/// backward after that of the stage behind.
double longest_way(const std::vector<Work>& stages, int m) {
  const int p = static_cast<int>(stages.size());
  std::vector<std::vector<std::pair<bool, int>>> order(stages.size());  // forward?, micro-batch
  for (int s = 0; s < p; ++s) {
    const int ahead = std::min(p - s - 1, m);
    auto& own = order[static_cast<std::size_t>(s)];
    for (int j = 0; j < ahead; ++j) own.emplace_back(true, j);
    for (int j = 0; j + ahead < m; ++j) own.insert(own.end(), {{true, j + ahead}, {false, j}});
    for (int j = m - ahead; j < m; ++j) own.emplace_back(false, j);
  }
  std::map<std::tuple<int, bool, int>, double> ends;
  std::vector<std::size_t> next(stages.size());
  std::vector<double> free(stages.size());
  for (std::size_t done = 0; done < 2 * stages.size() * static_cast<std::size_t>(m);) {
    for (int s = 0; s < p; ++s) {
      const auto place = static_cast<std::size_t>(s);
      if (next[place] == order[place].size()) continue;
      const auto [is_forward, j] = order[place][next[place]];
      const int before = is_forward ? s - 1 : s + 1;
      double begin = free[place];
      if (before >= 0 && before < p) {
        const auto needed = ends.find({before, is_forward, j});
        if (needed == ends.end()) continue;
        begin = std::max(begin, needed->second);
      }
      free[place] = begin + (is_forward ? stages[place].forward : stages[place].backward);
      ends[{s, is_forward, j}] = free[place];
      ++next[place];
      ++done;
    }
  }
  return *std::ranges::max_element(free);
}

RC_GTEST_PROP(Pipeline, OfAnyStagesIsTheLongestWayWhereSendingIsFree, ()) {
  const int p = *rc::gen::inRange(2, 7);
  const int m = *rc::gen::inRange(1, 12);
  std::vector<Work> stages;
  for (int s = 0; s < p; ++s) {
    stages.push_back({0.25 * *rc::gen::inRange(1, 20), 0.25 * *rc::gen::inRange(1, 40)});
  }
  RC_ASSERT(std::abs(Pipeline(stages, m, 0).second_iteration().duration.si() - longest_way(stages, m)) < 1e-9);
}

RC_GTEST_PROP(Pipeline, IsNeverFasterWithSlowerSends, ()) {
  const int p = *rc::gen::inRange(2, 6);
  const int m = *rc::gen::inRange(1, 10);
  std::vector<Work> stages;
  for (int s = 0; s < p; ++s) {
    stages.push_back({0.25 * *rc::gen::inRange(1, 20), 0.25 * *rc::gen::inRange(1, 40)});
  }
  const double message = 0.125 * *rc::gen::inRange(1, 20);
  const double free = Pipeline(stages, m, 0).second_iteration().duration.si();
  const double sent = Pipeline(stages, m, message).second_iteration().duration.si();
  RC_ASSERT(sent >= free + 2 * message - 1e-9);  // there and back at least once
  RC_ASSERT(sent <= free + 2 * (2 * m * (p - 1)) * message + 1e-9);
}

TEST(Pipeline, ReducesGradientsBesideTheLastBackwardPassOfEachStage) {
  // One gradient of 4 bytes, there when a third of the backward pass is left. The first stage ends last, (m + p - 1)
  // (f + b), and its allreduce begins b/3 before that.
  Pipeline pipeline(uniform(3, {2, 3}), 4, 0, R"({"kind": "ddp"})", {{"a", 4_B, 4_s, 4_s}}, 2);
  EXPECT_NEAR(pipeline.second_iteration().duration.si(), 6 * 5 + 3, 1e-9);
}

TEST(Pipeline, KeepsAsManyMicroBatchesAsTheStagesBehindHaveNotGivenBack) {
  for (int m = 1; m < 9; ++m) {
    for (int s = 0; s < 4; ++s) EXPECT_EQ((StagePlace{s, 4}.in_flight(m)), std::min(4 - s, m));
  }
}

}}  // namespace farandole::pipeline_test
