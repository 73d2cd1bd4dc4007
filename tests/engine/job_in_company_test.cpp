// Tasks whose collectives meet others: ends that nobody knows beforehand, groups, and streams.
#include <gtest/gtest.h>

#include "engine/company_kit.hpp"
#include "engine/simulated_job.hpp"
#include "simulate/folding_kit.hpp"

namespace farandole::job_in_company_test { namespace {

enum What : int { sent = 0, on_device = 1, over = 2 };

/// Jobs of rings on one star of 1 GB/s without latency: a ring of two takes M / B alone.
class InCompany : public testing::TestWithParam<Fidelity> {
 protected:
  InCompany() : simulator_(test::network_of(GetParam())), company_(simulator_, platform_, GetParam()) {}

  Carriage carriage(int ranks, const Placement& placement) {
    Carriage own;
    own.routed = std::make_shared<const RoutedSchedule>(ring_allreduce(ranks), platform_, placement);
    own.alone = make_collective_clock(GetParam(), *own.routed);
    return own;
  }
  JobSite site(int ranks, const std::vector<GroupCarriage>& groups) {
    JobSite site;
    site.ranks = ranks;
    site.company = &company_;
    site.carriages_of = [&groups](const Collective&) -> const std::vector<GroupCarriage>& { return groups; };
    return site;
  }
  Platform platform_ = test::star(4, 1_GBps, 0_s);
  Simulator simulator_;
  Company company_;
};

TEST_P(InCompany, ACollectiveSlowsComputationWhileItsEndIsNotKnownYet) {
  // 2 GB from 1 s on would take 2 s; another collective of 1 GB joins it at 2 s, of which nobody knows at 1 s: until 2
  // s half is done, both have half the rate until 4 s. So beside computation from 1 to 4 s: 10 s take 10.75.
  const Carriage ring = carriage(2, test::in_order(2));
  const std::vector<GroupCarriage> all{{&ring, {}}};
  JobSite on = site(2, all);
  on.compute_share = 0.25;
  SimulatedJob job(simulator_, on);
  Seconds computed;
  Seconds marked;
  Seconds communicated;
  job.tell([&](const Happening& happening) {
    if (happening.note.what == over) computed = job.now();
    if (happening.note.what == on_device) marked = job.now();
    if (happening.note.what == sent) communicated = job.now();
  });
  job.begin_iteration(RankTimes::Ones(2));
  job.add({Compute{10_s, {{2_s, false, {on_device}}}}, {}, {}, computing, {over}});
  job.add({Collective{Operation::allreduce, 2_GB}, all_at(2, 1_s), {}, communicating, {sent}});
  company_.start(ring, 1_GB, all_at(2, 2_s), [](const RankTimes&) {});
  simulator_.run();
  EXPECT_NEAR(communicated.si(), 4, 1e-6) << name(GetParam());
  EXPECT_NEAR(marked.si(), 1 + 1 / 0.75, 1e-6) << name(GetParam());
  EXPECT_NEAR(computed.si(), 10.75, 1e-6) << name(GetParam());
}

TEST_P(InCompany, TasksOverGroupsAreOverRankByRankWithTheirGroup) {
  // Ranks 0 and 2, ranks 1 and 3; the second pair joins two seconds later and shares no link with the first.
  const Carriage first = carriage(2, {{0, 2}, 2});
  const Carriage second = carriage(2, {{1, 3}, 2});
  const std::vector<GroupCarriage> groups{{&first, {0, 2}}, {&second, {1, 3}}};
  SimulatedJob job(simulator_, site(4, groups));
  job.tell([](const Happening&) {});
  job.begin_iteration(RankTimes::Ones(4));
  const TaskId collective = job.add({Collective{Operation::allreduce, 1_GB, {}, {}, false, Group::replicas},
                                     (RankTimes(4) << 0, 2, 0, 2).finished(),
                                     {},
                                     communicating});
  job.add({Compute{1_s}, {}, {collective}, computing});
  EXPECT_EQ(job.open_tasks(), 2);
  simulator_.run();
  EXPECT_EQ(job.open_tasks(), 0);
  const RankTimes ended = job.tasks(communicating)[0]->times.end;
  EXPECT_LT((ended - (RankTimes(4) << 1, 3, 1, 3).finished()).abs().maxCoeff(), 1e-6) << ended.transpose();
  const RankTimes computed = job.tasks(computing)[0]->times.end;
  EXPECT_LT((computed - ended - 1).abs().maxCoeff(), 1e-12);
}

TEST_P(InCompany, CollectivesOfOneStreamDoNotMeetAndOfTwoDo) {
  const Carriage ring = carriage(2, test::in_order(2));
  const std::vector<GroupCarriage> all{{&ring, {}}};
  for (const int width : {1, 2}) {
    JobSite on = site(2, all);
    on.width = width;
    SimulatedJob job(simulator_, on);
    std::vector<double> ends;
    job.tell([&](const Happening& happening) { ends.push_back(latest(happening.moments).si()); });
    job.begin_iteration(RankTimes::Ones(2));
    const double start = simulator_.now().si();
    for (int i = 0; i < 2; ++i) {
      job.add({Collective{Operation::allreduce, 1_GB}, all_at(2, simulator_.now()), {}, communicating, {over}});
    }
    simulator_.run();
    ASSERT_EQ(ends.size(), 2U);
    EXPECT_NEAR(ends[0] - start, width, 1e-6);  // one after the other, or both at half the rate
    EXPECT_NEAR(ends[1] - start, 2, 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(AtEveryFidelity, InCompany,
                         testing::Values(Fidelity::analytic, Fidelity::flow, Fidelity::message),
                         [](const auto& fidelity) { return std::string(name(fidelity.param)); });

}}  // namespace farandole::job_in_company_test
