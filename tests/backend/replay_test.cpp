// A replay on ranks in memory: the strategies' own decisions, carried out with real data.
#include "backend/replay/replay.hpp"

#include <mutex>

#include <gmock/gmock.h>

#include "backend/memory_ranks.hpp"
#include "collective/algorithms.hpp"
#include "training/simulation_kit.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole::replay_test { namespace {

using testing::Each;
using testing::Ge;
using testing::Le;
using testing::SizeIs;

/// Eight gradients of 4 KiB, one every millisecond, announced when they are ready.
Job small_job() {
  Job job;
  for (int i = 0; i < 8; ++i) {
    const Seconds ready = 1_ms * (i + 2);
    job.gradients.push_back({"g" + std::to_string(i), 4_KiB, ready, ready, 1024, 1});
    job.variables.push_back({"v" + std::to_string(i), 4_KiB, i, i});
  }
  job.backward_end = 10_ms;
  job.update = 1_ms;
  return job;
}

StrategyChoice choice_of(const std::string& text, int ranks) {
  const Document document = Document::parse(text, "strategy.json");
  return read_strategy(document.root(), {}, ranks);
}

struct Replayed {
  std::vector<std::vector<LocalIteration>> ranks;  // of each, its iterations
  std::vector<Iteration> all;
  std::int64_t wrong = 0;
  TrainingRun run;
};

Replayed replayed(const Job& job, const std::string& strategy_text, int ranks, int iterations,
                  Timeline* timeline = nullptr, double slowdown_of_rank_1 = 0) {
  const StrategyChoice choice = choice_of(strategy_text, ranks);
  Variability variability(ranks, 0, 0, 1);
  if (slowdown_of_rank_1 > 0) variability.slow_down(1, slowdown_of_rank_1);
  Replayed result;
  result.ranks.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  test::on_every_rank(ranks, [&](MemoryEndpoint& endpoint) {
    test::MemorySession session(endpoint);
    Timeline* const own = endpoint.rank() == 0 ? timeline : nullptr;
    const auto strategy = choice.make({job, ranks, 1, 1_GBps * 1000, {}, Seconds(0), "MEMORY", 1, own});
    const auto ring = [ranks](Operation operation, Group /*group*/) {
      return find_algorithm(operation, "ring")->build(Shape(ranks));
    };
    Replay replay({job, variability, *strategy, {ring}, choice.negotiates, nullptr, own}, session);
    replay.check_data(true);
    std::vector<LocalIteration> mine;
    for (int i = 0; i < iterations; ++i) mine.push_back(replay.run_iteration());
    replay.close();
    std::vector<Iteration> all;
    Seconds before;
    for (const LocalIteration& iteration : mine) {
      all.push_back(iteration_of_all(endpoint, iteration, before));
      before = last_of_all(endpoint, iteration.end);
    }
    const std::lock_guard lock(mutex);
    result.wrong += replay.wrong();
    result.ranks[static_cast<std::size_t>(endpoint.rank())] = std::move(mine);
    result.all = std::move(all);
  });
  result.run = condense(result.all, job);
  return result;
}

/// 8 gradients of 4 KiB: the first bucket closes at 4 KiB, the others at 8: 1 + 4 buckets, from the second iteration
/// on.
constexpr const char* ddp = R"({"kind": "ddp", "first_bucket": "4 KiB", "bucket_cap": "8 KiB"})";

TEST(Replay, SendsTheBucketsOfTheStrategyWithRealSums) {
  const Replayed result = replayed(small_job(), ddp, 3, 2);
  EXPECT_EQ(result.wrong, 0);
  for (const auto& iterations : result.ranks) {
    for (std::size_t i = 0; i < iterations.size(); ++i)
      EXPECT_THAT(iterations[i].communications, SizeIs(i == 0 ? 1 : 5));
  }
  EXPECT_EQ(result.run.collectives_per_iteration, 5);
}

/// Layers take at least their time, gradients do not travel before they are computed, and nothing ends before the
/// update.
TEST(Replay, KeepsTheOrderOfALayerItsGradientAndTheUpdate) {
  const Job job = small_job();
  for (const auto& iterations : replayed(job, ddp, 2, 3).ranks) {
    for (const LocalIteration& iteration : iterations) {
      EXPECT_GE(iteration.communications.front().begin, iteration.computed.front().from + job.gradients.front().ready);
      EXPECT_GE(iteration.communications.back().begin, iteration.computed.front().from + job.gradients.back().ready);
      EXPECT_GE(iteration.end, iteration.computed.back().to + job.update);
      EXPECT_GE(iteration.end, iteration.synchronised + job.update);
      for (const LocalTimes& times : iteration.communications) {
        EXPECT_THAT((std::vector{times.begin, times.reducing, times.reduced}), Each(Le(times.end)));
      }
    }
  }
}

/// The first buckets travel while later layers compute; where the machine is busy, at least now and then.
TEST(Replay, OverlapsCommunicationWithComputation) {
  const Replayed result = replayed(small_job(), ddp, 2, 20);
  EXPECT_TRUE(std::ranges::any_of(result.ranks.front(), [](const LocalIteration& iteration) {
    return iteration.communications.front().end < iteration.computed.back().to;
  }));
}

/// Ranks of different speed announce at different moments; what travels together is the same on all of them, or
/// messages would have different lengths.
TEST(Replay, NegotiatesWhatIsFused) {
  Timeline timeline(10'000);
  const Replayed result = replayed(
      small_job(), R"({"kind": "horovod", "cycle_time": "3 ms", "fusion_threshold": "16 KiB"})", 3, 4, &timeline, 0.5);
  EXPECT_EQ(result.wrong, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t fused = result.ranks[0][i].communications.size();
    EXPECT_GE(fused, 2U);  // 32 KiB, at most 16 at a time
    EXPECT_LE(fused, 8U);
    for (const auto& iterations : result.ranks) EXPECT_THAT(iterations[i].communications, SizeIs(fused));
  }
  const auto has = [&](const std::string& activity) {
    return std::ranges::any_of(timeline.spans(), [&](const Span& span) { return span.activity == activity; });
  };
  EXPECT_TRUE(has("NEGOTIATE_ALLREDUCE"));
  EXPECT_TRUE(has("MEMORY_ALLREDUCE"));
  EXPECT_TRUE(has("FORWARD_BACKWARD"));
}

/// A rank that is slower by half takes 15 ms for layers of 10, and half as much again to update.
TEST(Replay, LetsASlowRankTakeItsTime) {
  const Replayed result = replayed(small_job(), ddp, 2, 3, nullptr, 0.5);
  for (int rank = 0; rank < 2; ++rank) {
    const double factor = rank == 1 ? 1.5 : 1;
    for (const LocalIteration& iteration : result.ranks[static_cast<std::size_t>(rank)]) {
      EXPECT_NEAR((iteration.computed.back().to - iteration.computed.front().from).si(), 10e-3 * factor, 1e-9);
      EXPECT_GE(iteration.end - iteration.synchronised, 1_ms * factor);
    }
  }
}

/// Averages every second step: nothing travels in the others.
TEST(Replay, TravelsInEveryPeriodOnly) {
  const Replayed result = replayed(small_job(), R"({"kind": "local_sgd", "period": 2})", 2, 4);
  EXPECT_THAT(result.ranks[1][0].communications, SizeIs(0));
  EXPECT_THAT(result.ranks[1][1].communications, SizeIs(1));
  EXPECT_EQ(result.wrong, 0);
}

TEST(Replay, OfOneRankOnlyComputes) {
  const Replayed result = replayed(small_job(), R"({"kind": "single"})", 1, 2);
  EXPECT_THAT(result.run.durations, Each(Ge(11_ms)));
  EXPECT_EQ(result.run.breakdown.exposed_communication, Seconds(0));
}

/// Simulated and replayed, a job has the same collectives.
TEST(Replay, DecidesAsTheSimulationDoes) {
  class Instant final : public CollectiveClock {
    Answer answer(Bytes /*size*/, const RankTimes& start) override { return {start, {}}; }
  } clock;
  const Job job = small_job();
  const StrategyChoice choice = choice_of(ddp, 4);
  const auto strategy = choice.make({job, 4, 1, 1_GBps * 1000, {}, Seconds(0), "SIMULATED", 1, nullptr});
  const Variability variability(4, 0, 0, 1);
  test::Simulation simulation(job, variability, *strategy, clock, 4, Seconds(0), nullptr);
  EXPECT_EQ(replayed(job, ddp, 4, 1).run.collectives_per_iteration, simulation.run_iteration().collectives);
}

}}  // namespace farandole::replay_test
