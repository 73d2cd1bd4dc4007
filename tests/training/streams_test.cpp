// Collectives of one job on several streams, which share the network, against schedules worked out by hand.
#include <gtest/gtest.h>

#include "collective/algorithms/rings.hpp"
#include "engine/company_kit.hpp"
#include "simulate/platform_kit.hpp"
#include "training/strategy_kit.hpp"

namespace farandole::streams_test { namespace {

/// Four ranks on a star of 1 GB/s without latency: a ring of M takes 1.5 M / B alone.
struct StreamsBench {
  StreamsBench(Fidelity fidelity, int streams, Job job_,
               const std::string& text = R"({"kind": "ddp", "first_bucket": "0 B", "bucket_cap": "0 B"})",
               Timeline* timeline = nullptr)
      : job(std::move(job_)),
        variability(4, 0, 0, 1),
        document(Document::parse(text, "strategy.json")),
        choice(read_strategy(document.root(), {}, 4)),
        strategy(choice.make({job, 4, 1, BytesPerSecond::infinity(), Coder{}, 0_s, "NCCL", 1, timeline})),
        routed(ring_allreduce(4), platform, test::in_order(4)),
        simulator(test::network_of(fidelity)),
        company(simulator, platform, fidelity),
        carriage{std::make_shared<const RoutedSchedule>(routed), make_collective_clock(fidelity, routed), 0_s, {}},
        trainer(simulator, site(streams), job, variability, *strategy, timeline) {}

  JobSite site(int streams) {
    JobSite site;
    site.ranks = 4;
    site.width = streams;
    site.company = &company;
    site.carriages_of = [this](const Collective&) -> const std::vector<GroupCarriage>& { return carriages; };
    return site;
  }

  Job job;
  Variability variability;
  Document document;
  StrategyChoice choice;
  std::unique_ptr<Strategy> strategy;
  Platform platform = test::star(4, 1_GBps, 0_s);
  RoutedSchedule routed;
  Simulator simulator;
  Company company;
  Carriage carriage;
  std::vector<GroupCarriage> carriages{{&carriage, {}}};
  Trainer trainer;
};

TEST(Ddp, OnTwoStreamsBucketsShareTheNetwork) {
  // c, 4 GB, is ready after 10 s and would take 6 s alone; b, 8 GB, after 12 s. From 12 s on they share: c has 4 s left
  // and is done at 20 s, when b has 4 of its 12 s behind it. a, 2 GB, waits for a free stream from
  // 13 to 20 s and shares with b: its 3 s take 6, to 26 s; b, with 8 s left at 20 s, goes on alone at 26 s with 5 left.
  const Job job{{{"c", 4_GB, 10_s, 10_s}, {"b", 8_GB, 12_s, 12_s}, {"a", 2_GB, 13_s, 13_s}}, 13_s, 0_s};
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    StreamsBench bench(fidelity, 2, job);
    bench.trainer.run_iteration();  // one bucket
    for (int round = 0; round < 2; ++round) {
      const Iteration iteration = bench.trainer.run_iteration();
      EXPECT_NEAR(iteration.duration.si(), 31, 1e-6) << name(fidelity);
      EXPECT_NEAR(iteration.exposed_communication.si(), 18, 1e-6) << name(fidelity);
      EXPECT_EQ(iteration.collectives, 3);
    }
  }
}

TEST(Horovod, StreamsAreTakenInTurn) {
  // c, 8 GB, and b, 2 GB, share the network from 10 s on; b's 3 s take 6. a is c's successor, not b's: c has 9 of its
  // 12 s left at 16 s and ends at 25 s.
  const Job job{{{"c", 8_GB, 10_s, 10_s}, {"b", 2_GB, 10_s, 10_s}, {"a", 2_GB, 10_s, 10_s}}, 10_s, 0_s};
  Timeline timeline(1000);
  StreamsBench bench(Fidelity::flow, 2, job,
                     R"({"kind": "horovod", "fusion_threshold": "0 B", "cycle_time": "0 s",
                         "coordinator_per_message": "0 s", "coordinator_receives": "0 s",
                         "settings": {"HOROVOD_NUM_NCCL_STREAMS": "2"}})",
                     &timeline);
  EXPECT_EQ(bench.choice.streams, 2);
  EXPECT_NEAR(bench.trainer.run_iteration().duration.si(), 28, 1e-6);
  const auto starts = [&](const std::string& tensor) {
    for (const Span& span : timeline.spans()) {
      if (span.lane == tensor && span.activity == "NCCL_ALLREDUCE") return span.start.si();
    }
    return 0.0;
  };
  EXPECT_NEAR(starts("b"), 10, 1e-6);
  EXPECT_NEAR(starts("a"), 25, 1e-6);
}

TEST(Ddp, OnOneSharedStreamBucketsFollowOneAnotherAsEver) {
  // 10 to 16, 16 to 28, 28 to 31 s: the links are as busy as with two streams.
  const Job job{{{"c", 4_GB, 10_s, 10_s}, {"b", 8_GB, 12_s, 12_s}, {"a", 2_GB, 13_s, 13_s}}, 13_s, 0_s};
  for (const Fidelity fidelity : {Fidelity::analytic, Fidelity::flow, Fidelity::message}) {
    StreamsBench bench(fidelity, 1, job);
    bench.trainer.run_iteration();  // one bucket
    EXPECT_NEAR(bench.trainer.run_iteration().duration.si(), 31, 1e-6) << name(fidelity);
  }
}

}}  // namespace farandole::streams_test
