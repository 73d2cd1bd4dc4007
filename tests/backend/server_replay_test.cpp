// A replay of servers on processes in memory: the strategy's own decisions, carried out with real data.
#include "backend/replay/server_replay.hpp"

#include <mutex>

#include <gmock/gmock.h>

#include "backend/memory_ranks.hpp"
#include "training/servers/server_run.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole::server_replay_test { namespace {

using testing::Ge;
using testing::SizeIs;

/// Four layers of a millisecond each way, with 4 KiB of parameters each.
Job small_job() {
  Job job;
  for (int i = 0; i < 4; ++i) {
    const Seconds ready = 1_ms * (i + 5);
    job.layers.push_back({1_ms, 1_ms});
    job.gradients.push_back({"g" + std::to_string(i), 4_KiB, ready, ready, 1024, 1});
    job.variables.push_back({"v" + std::to_string(i), 4_KiB, i, i});
  }
  job.backward_end = 8_ms;
  return job;
}

/// A way on which the first number of every piece of data is one too large.
class SpoilingEndpoint final : public Endpoint {
 public:
  explicit SpoilingEndpoint(std::unique_ptr<Endpoint> way) : way_(std::move(way)) {}
  [[nodiscard]] int rank() const override { return way_->rank(); }
  [[nodiscard]] int ranks() const override { return way_->ranks(); }
  DataPlace& place() override { return way_->place(); }
  void send(std::span<const float> data, int to) override {
    constexpr std::size_t head = 4;
    std::vector<float> spoiled(data.begin(), data.end());
    if (data.size() > head) spoiled.front() += 1;
    way_->send(spoiled, to);  // memory copies what is sent
  }
  void receive(std::span<float> data, int from) override { way_->receive(data, from); }
  void wait() override { way_->wait(); }
  bool is_done() override { return way_->is_done(); }
  void idle(Seconds at_most) override { way_->idle(at_most); }
  std::vector<double> allgather_scalar(double number) override { return way_->allgather_scalar(number); }

 private:
  std::unique_ptr<Endpoint> way_;
};

class SpoilingSession final : public test::MemorySession {
 public:
  SpoilingSession(MemoryEndpoint& endpoint, bool spoils) : MemorySession(endpoint), spoils_(spoils) {}
  std::unique_ptr<Endpoint> open_channel() override {
    auto way = MemorySession::open_channel();
    if (!spoils_) return way;
    return std::make_unique<SpoilingEndpoint>(std::move(way));
  }

 private:
  bool spoils_;
};

struct Replayed {
  std::vector<std::vector<WorkerIteration>> workers;
  std::int64_t wrong = 0;
};

/// `process_of_server`: those behind the workers are servers alone.
Replayed replayed(const std::string& settings, const std::vector<int>& process_of_server, int workers, int iterations,
                  double slowdown_of_worker_1 = 0, bool spoils = false) {
  const Document document = Document::parse(settings, "strategy.json");
  ServerPlan plan = *read_strategy(document.root(), {}, workers).servers;
  plan.servers = static_cast<int>(process_of_server.size());
  const Job job = small_job();
  Variability variability(workers, 0, 0, 1);
  if (slowdown_of_worker_1 > 0) variability.slow_down(1, slowdown_of_worker_1);
  const int processes = std::max(workers, 1 + std::ranges::max(process_of_server));
  Replayed result;
  result.workers.resize(static_cast<std::size_t>(workers));
  std::mutex mutex;
  test::on_every_rank(processes, [&](MemoryEndpoint& endpoint) {
    SpoilingSession session(endpoint, spoils);
    ServerReplay replay(
        {job, plan, shards_of(job, plan, 1_GBps * 1000), process_of_server, variability, workers, 2, nullptr, nullptr},
        session, iterations, true);
    std::vector<WorkerIteration> own = replay.run();
    const std::lock_guard lock(mutex);
    result.wrong += replay.wrong();
    if (endpoint.rank() < workers) {
      result.workers[static_cast<std::size_t>(endpoint.rank())] = std::move(own);
    } else {
      EXPECT_THAT(own, SizeIs(0));
    }
  });
  return result;
}

const std::vector<std::string> modes{
    R"({"kind": "parameter_server"})",
    R"({"kind": "parameter_server", "overlap": false, "server_placement": "split"})",
    R"({"kind": "parameter_server", "mode": "asynchronous"})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1})",
    R"({"kind": "distributed_replicated"})",
};

/// On processes of their own, in those of workers, and one of each.
TEST(ServerReplay, RunsEveryModeWhereverServersAreWithTheRightData) {
  for (const std::string& mode : modes) {
    for (const std::vector<int>& servers : {std::vector{3, 4}, {0, 1}, {2, 3}, {0}}) {
      const Replayed result = replayed(mode, servers, 3, 3);
      EXPECT_EQ(result.wrong, 0) << mode;
      for (const auto& iterations : result.workers) EXPECT_THAT(iterations, SizeIs(Ge(3U))) << mode;
    }
  }
}

/// Four pushes of each of two remote workers' three iterations, and the sums; and what they pull.
TEST(ServerReplay, CountsEveryNumberThatIsNotAsItShouldBe) {
  const Replayed synchronous = replayed(modes[0], {2}, 2, 3, 0, true);
  EXPECT_EQ(synchronous.wrong, 4 * 3 * (2 + 1 + 2));
  EXPECT_GT(replayed(modes[2], {0}, 2, 3, 0, true).wrong, 0);
}

/// With a barrier nobody starts before all have ended.
TEST(ServerReplay, KeepsTheBarrierAndTheOrderOfPasses) {
  const Replayed result = replayed(modes[0], {3}, 3, 4);
  for (std::size_t i = 0; i < 4; ++i) {
    for (const auto& iterations : result.workers) {
      ASSERT_THAT(iterations, SizeIs(4));
      EXPECT_GE((iterations[i].end - iterations[i].start) / 1_ms, 8 * (1 - 1e-9));
      EXPECT_EQ(iterations[i].staleness, 0);
    }
  }
}

/// A worker that is three times slower holds nobody up without a barrier, and all up with one.
TEST(ServerReplay, LetsFastWorkersGoOnWithoutABarrierOnly) {
  const Replayed asynchronous = replayed(modes[2], {0}, 2, 4, 2);
  EXPECT_GT(asynchronous.workers[0].size(), asynchronous.workers[1].size());
  const Replayed bounded = replayed(modes[3], {0}, 2, 4, 2);
  EXPECT_LE(bounded.workers[0].size(), bounded.workers[1].size() + 1);
  const Replayed synchronous = replayed(modes[0], {0}, 2, 4, 2);
  EXPECT_EQ(synchronous.workers[0].size(), synchronous.workers[1].size());
  for (const WorkerIteration& iteration : synchronous.workers[0]) {
    EXPECT_GE((iteration.end - iteration.start) / 1_ms, 3 * 8 * (1 - 1e-9));
  }
}

/// The parts of a mean iteration, as of a simulated run.
TEST(ServerReplay, GivesIterationsWhosePartsAddUp) {
  const Replayed result = replayed(modes[0], {2}, 2, 3);
  std::vector<WorkerIteration> all;
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<WorkerIteration> round{result.workers[0][i], result.workers[1][i]};
    std::ranges::sort(round, {}, &WorkerIteration::end);
    all.insert(all.end(), round.begin(), round.end());
  }
  const WorkerMean mean = mean_of_barriers(all, 2, 1);
  const Breakdown parts = break_down(mean, small_job());
  EXPECT_NEAR(parts.total() / mean.iteration, 1, 1e-9);
  EXPECT_EQ(parts.compute, 8_ms);
  EXPECT_GT(parts.exposed_communication, 0_s);
}

}}  // namespace farandole::server_replay_test
