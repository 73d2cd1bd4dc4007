// Tasks in simulated time: streams in order, what waits for what, marks, and computation beside communication.
#include "engine/simulated_job.hpp"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/max_min_network.hpp"

namespace farandole::simulated_job_test { namespace {

using testing::ElementsAre;

/// A collective of n bytes takes n seconds from when the last rank has joined.
class SecondPerByte final : public CollectiveClock {
 public:
  Answer answer(Bytes size, const RankTimes& start) override {
    return {RankTimes::Constant(start.size(), start.maxCoeff() + size.si()), {}};
  }
};

std::vector<double> list(const RankTimes& moments) {
  return {moments.data(), moments.data() + moments.size()};
}

struct Told {
  int what;
  int index;
  double now;
  std::vector<double> moments;
};

/// A job of some ranks on a clock.
class ClockedJob {
 public:
  explicit ClockedJob(int ranks, int width = 1, double share = 0) : job(simulator, site(ranks, width, share)) {
    job.tell([this](const Happening& happening) {
      if (happening.note.what < 0) return;
      const RankTimes& moments = happening.moments;
      told.push_back({happening.note.what, happening.note.index, job.now().si(), list(moments)});
    });
    job.begin_iteration(RankTimes::Ones(ranks));
  }
  TaskId compute(double work, std::vector<TaskId> after = {}, std::vector<double> earliest = {}) {
    return job.add({Compute{Seconds(work)}, times(earliest), std::move(after), computing});
  }
  TaskId collective(double seconds, std::vector<TaskId> after = {}, std::vector<double> earliest = {},
                    Stream stream = communicating) {
    return job.add({Collective{Operation::allreduce, Bytes(seconds)}, times(earliest), std::move(after), stream});
  }
  /// Of the only rank, or the first.
  [[nodiscard]] std::vector<std::pair<double, double>> stretches(Stream stream) const {
    std::vector<std::pair<double, double>> result;
    for (const SimulatedJob::Done* task : job.tasks(stream)) {
      result.emplace_back(task->times.begin[0], task->times.end[0]);
    }
    return result;
  }

  Simulator simulator{std::make_unique<MaxMinNetwork>()};
  SecondPerByte clock;
  std::vector<Told> told;
  SimulatedJob job;

 private:
  static RankTimes times(const std::vector<double>& moments) {
    RankTimes result(static_cast<Eigen::Index>(moments.size()));
    std::ranges::copy(moments, result.data());
    return result;
  }
  JobSite site(int ranks, int width, double share) {
    JobSite site;
    site.ranks = ranks;
    site.width = width;
    site.compute_share = share;
    site.clock_of = [this](const Collective&) -> CollectiveClock& { return clock; };
    return site;
  }
};

using Stretch = std::pair<double, double>;

TEST(SimulatedJob, TasksOfAStreamFollowOneAnotherAndOfTwoStreamsDoNot) {
  ClockedJob run(1);
  run.compute(3);
  run.compute(2);
  run.collective(4);
  run.collective(1, {}, {6});
  run.collective(1);
  run.collective(2, {}, {}, communicating_among_replicas);
  EXPECT_THAT(run.stretches(computing), ElementsAre(Stretch(0, 3), Stretch(3, 5)));
  EXPECT_THAT(run.stretches(communicating), ElementsAre(Stretch(0, 4), Stretch(6, 7), Stretch(7, 8)));
  EXPECT_THAT(run.stretches(communicating_among_replicas), ElementsAre(Stretch(0, 2)));
  EXPECT_EQ(run.job.open_tasks(), 0);  // known at once, before any event
}

TEST(SimulatedJob, ATaskWaitsRankByRankForWhatItComesAfter) {
  // Ranks compute from 0 and from 5; the computation after that goes on on each rank by itself.
  ClockedJob run(2);
  const TaskId first = run.compute(2, {}, {0, 5});
  const TaskId second = run.compute(1, {first});
  const TaskId third = run.collective(3, {second});
  run.compute(1, {first, third});
  const auto computed = run.job.tasks(computing);
  EXPECT_THAT(list(computed[1]->times.begin), ElementsAre(2, 7));
  EXPECT_THAT(list(computed[1]->times.end), ElementsAre(3, 8));
  const auto communicated = run.job.tasks(communicating);
  EXPECT_THAT(list(communicated[0]->times.begin), ElementsAre(3, 8));
  EXPECT_THAT(list(communicated[0]->times.end), ElementsAre(11, 11));
  EXPECT_THAT(list(computed[2]->times.begin), ElementsAre(11, 11));
}

TEST(SimulatedJob, AStreamOfWidthTwoLetsTwoGoAtOnce) {
  ClockedJob run(1, 2);
  for (const double seconds : {4, 1, 2, 5}) run.collective(seconds);
  // The third takes the place that is free first, the fourth the next one.
  EXPECT_THAT(run.stretches(communicating), ElementsAre(Stretch(0, 4), Stretch(0, 1), Stretch(1, 3), Stretch(3, 8)));
}

TEST(SimulatedJob, CopiesAreOfTheStreamButNotOfTheCollective) {
  ClockedJob run(1);
  run.job.add({Collective{Operation::allreduce, 4_B, 1_s, 2_s}, {}, {}, communicating});
  run.collective(1);
  const TaskTimes& times = run.job.tasks(communicating)[0]->times;
  EXPECT_EQ(times.first_rank.reducing, 1_s);
  EXPECT_EQ(times.first_rank.reduced, 5_s);
  EXPECT_EQ(times.end[0], 7);
  EXPECT_EQ(run.job.tasks(communicating)[1]->times.begin[0], 7);
}

enum What : int { on_host = 0, on_device = 1, over = 2 };

TEST(SimulatedJob, MarksOfTheHostComeAtItsTimeAndOfTheDeviceWhenTheSlowestHasComputed) {
  ClockedJob run(2);
  run.job.begin_iteration((RankTimes(2) << 1, 2).finished());
  Compute passes{4_s, {{2_s, false, {on_device, 0, 1}}, {1_s, true, {on_host, 0, 2}}, {2_s, true, {on_host, 0, 3}}}};
  run.job.add({passes, {}, {}, computing, {over}});
  EXPECT_EQ(run.job.open_marks(), 3);
  run.simulator.run();
  ASSERT_EQ(run.told.size(), 4U);
  EXPECT_EQ(run.told[0].index, 2);
  EXPECT_EQ(run.told[0].now, 1);
  EXPECT_THAT(run.told[0].moments, ElementsAre(1, 1));  // the host does not wait for the slow device
  EXPECT_EQ(run.told[1].index, 3);
  EXPECT_EQ(run.told[2].index, 1);
  EXPECT_EQ(run.told[2].now, 4);
  EXPECT_THAT(run.told[2].moments, ElementsAre(2, 4));
  EXPECT_EQ(run.told[3].what, over);
  EXPECT_THAT(run.told[3].moments, ElementsAre(4, 8));
  EXPECT_EQ(run.job.open_marks(), 0);
}

TEST(SimulatedJob, MarksOfTheSameMomentComeInTheirOrder) {
  ClockedJob run(1);
  run.job.add(
      {Compute{2_s, {{1_s, false, {on_device, 0, 1}}, {1_s, true, {on_host, 0, 2}}, {1_s, false, {on_device, 0, 3}}}}});
  run.simulator.run();
  std::vector<int> order;
  for (const Told& told : run.told) order.push_back(told.index);
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(SimulatedJob, ARunningCollectiveSlowsComputation) {
  // (T - t) - share x (time communicating within [t, T]) = work: beside 2 to 6, ten seconds take eleven.
  ClockedJob run(1, 1, 0.25);
  run.job.add({Compute{10_s, {{4_s, false, {on_device, 0, 0}}}}, {}, {}, computing, {over}});
  run.collective(4, {}, {2});
  run.compute(1);
  run.simulator.run();
  ASSERT_EQ(run.told.size(), 2U);
  EXPECT_NEAR(run.told[0].now, 2 + 2 / 0.75, 1e-9);
  EXPECT_NEAR(run.told[1].now, 11, 1e-9);
  EXPECT_NEAR(run.job.tasks(computing)[1]->times.begin[0], 11, 1e-9);
}

TEST(SimulatedJob, CollectivesOfTwoStreamsAtOnceSlowItByOneShare) {
  ClockedJob run(1, 1, 0.25);
  run.job.add({Compute{10_s}, {}, {}, computing, {over}});
  run.collective(4, {}, {2});
  run.collective(4, {}, {1}, communicating_among_replicas);
  run.simulator.run();
  EXPECT_NEAR(run.told.at(0).now, 10 + 0.25 * 5, 1e-9);  // from 1 to 6
}

TEST(SimulatedJob, AComputationStopsForItsExchanges) {
  // 10 s of work that stop after 4 s for 3 s, and after 6 s for 2 s; what is behind them waits, another stream does
  // not.
  ClockedJob run(2);
  const auto exchange = [](double at, double length) {
    return InnerExchange{Seconds(at), {Operation::allreduce, Bytes(length), {}, {}, false, Group::tensor}};
  };
  run.job.add({Compute{10_s,
                       {{4_s, false, {on_device, 0, 1}},
                        {5_s, false, {on_device, 0, 2}},
                        {5_s, true, {on_host, 0, 3}},
                        {10_s, false, {on_device, 0, 4}}},
                       {exchange(4, 3), exchange(6, 2)}},
               {},
               {},
               computing,
               {over}});
  run.collective(1);
  run.compute(1);
  run.simulator.run();
  std::map<int, double> moments;
  for (const Told& told : run.told) moments[told.index] = told.now;
  EXPECT_EQ(moments.at(1), 4);
  EXPECT_EQ(moments.at(2), 8);
  EXPECT_EQ(moments.at(3), 5);
  EXPECT_EQ(moments.at(4), 15);
  EXPECT_EQ(run.job.tasks(computing).back()->times.begin[0], 15);
  EXPECT_THAT(run.stretches(communicating), ElementsAre(std::pair(0.0, 1.0)));
  EXPECT_EQ(std::ranges::count(run.job.collectives(), CollectiveKind(Operation::allreduce, 3_B, Group::tensor)), 1);
  EXPECT_EQ(run.job.open_marks(), 0);
}

TEST(SimulatedJob, AnIterationLeavesNothingOfItsTasksToTheNext) {
  ClockedJob run(1);
  run.compute(3);
  run.collective(2);
  run.job.begin_iteration(RankTimes::Constant(1, 2));
  EXPECT_FALSE(run.job.computes());
  EXPECT_TRUE(run.job.tasks(computing).empty());
  run.compute(1);
  EXPECT_THAT(run.stretches(computing), ElementsAre(Stretch(3, 5)));  // after what was before, at half the speed
  EXPECT_THAT(run.job.collectives(), ElementsAre(CollectiveKind(Operation::allreduce, 2_B, Group::all)));
}

TEST(SimulatedJobWithServers, AWorkerComputesSlowerBesideItsMessages) {
  // 3 GB over 1 GB/s; eight seconds of work begin with them: (T - 0) - 0.25 x 3 = 8. Another worker is left alone.
  ServerNetwork network;
  network.capacities = {1_GBps};
  network.congestion.resize(1);
  network.groups = {{{0}, 1, BytesPerSecond::infinity()}, {{1}, 1, BytesPerSecond::infinity()}};
  network.ways = {{{}, 0_s}, {{{0, 1}}, 0_s}, {{}, 0_s}, {{{0, 1}}, 0_s}};
  JobSite site;
  site.ranks = 2;
  site.compute_share = 0.25;
  site.servers = &network;
  Simulator simulator(std::make_unique<MaxMinNetwork>());
  SimulatedJob job(simulator, site);
  std::map<int, double> ends;
  job.tell([&](const Happening& happening) { ends[happening.note.what] = job.now().si(); });
  job.compute(0, 8_s, {0});
  job.compute(1, 8_s, {1});
  job.send({0, 0, true}, 2_GB, {2});
  job.send({0, 0, true}, 1_GB, {3});
  simulator.run();
  EXPECT_NEAR(ends.at(2), 2, 1e-9);
  EXPECT_NEAR(ends.at(3), 3, 1e-9);  // in order on its connection
  EXPECT_NEAR(ends.at(0), 8.75, 1e-9);
  EXPECT_NEAR(ends.at(1), 8, 1e-9);
}

TEST(SimulatedJobWithServers, AnEndOfWorkWithinAMessageIsPutOffByItsShareOnly) {
  // Work of 1.5 s beside a message of 3 s: T - 0.25 T = 1.5.
  ServerNetwork network;
  network.capacities = {1_GBps};
  network.congestion.resize(1);
  network.groups = {{{0}, 1, BytesPerSecond::infinity()}};
  network.ways = {{{}, 0_s}, {{{0, 1}}, 0_s}};
  JobSite site;
  site.compute_share = 0.25;
  site.servers = &network;
  Simulator simulator(std::make_unique<MaxMinNetwork>());
  SimulatedJob job(simulator, site);
  std::map<int, double> ends;
  job.tell([&](const Happening& happening) { ends[happening.note.what] = job.now().si(); });
  job.send({0, 0, true}, 3_GB, {1});
  job.compute(0, Seconds(1.5), {0});
  simulator.run();
  EXPECT_NEAR(ends.at(0), 2, 1e-9);
  EXPECT_NEAR(ends.at(1), 3, 1e-9);
}

}}  // namespace farandole::simulated_job_test
