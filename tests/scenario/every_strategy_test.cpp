// Every strategy in every mode, from scenario to point: what must hold of all of them on a star without jitter.
#include <limits>

#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::every_strategy_test { namespace {

const std::vector<std::string> all_strategies{
    R"({"kind": "horovod", "version": "0.9.6"})",
    R"({"kind": "horovod", "version": "0.21.0"})",
    R"({"kind": "horovod", "fusion_threshold": "0 B"})",
    R"({"kind": "horovod", "groups": 4})",
    R"({"kind": "horovod", "op": "adasum"})",
    R"({"kind": "horovod", "compression": "int8"})",
    R"({"kind": "ddp"})",
    R"({"kind": "ddp", "streams": 2})",
    R"({"kind": "ddp", "static_graph": true})",
    R"({"kind": "ddp", "compression": "power_sgd"})",
    R"({"kind": "parameter_server"})",
    R"({"kind": "parameter_server", "servers": 3, "server_placement": "by_size", "colocated": true})",
    R"({"kind": "parameter_server", "mode": "asynchronous"})",
    R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1})",
    R"({"kind": "distributed_replicated", "servers": 2})",
    R"({"kind": "allgather"})",
    R"({"kind": "allgather", "density": "5 %"})",
    R"({"kind": "local_sgd", "period": 4})",
    R"({"kind": "diloco", "inner_steps": 2})",
    R"({"kind": "diloco", "inner_steps": 2, "fragments": 2, "overlap_steps": 1})",
};

TrainingPoint point_of(const std::string& strategy, std::vector<test::Change> changes) {
  changes.push_back({"/strategy", strategy});
  return test::run(changes).points.front();
}

TEST(EveryStrategy, IsNeverSlowerOnAFasterNetwork) {
  for (const std::string& strategy : all_strategies) {
    double before = std::numeric_limits<double>::infinity();
    for (const char* topology : {"ethernet-10g", "ethernet-25g", "ethernet-100g"}) {
      const double seconds = point_of(strategy, {{"/platform/topology", topology}}).iteration.si();
      EXPECT_LE(seconds, before * (1 + 1e-9)) << strategy << " on " << topology;
      before = seconds;
    }
  }
}

/// Message by message, servers that several workers pull from and push to at once are busy in another order.
double tolerance(const std::string& strategy) {
  return strategy.find("parameter_server") != std::string::npos || strategy.find("replicated") != std::string::npos
             ? 0.03
             : 1e-6;
}

TEST(EveryStrategy, TakesTheSameAtEveryFidelityWhereNothingDisturbsIt) {
  for (const std::string& strategy : all_strategies) {
    const auto seconds = [&](const char* fidelity) {
      return point_of(strategy, {{"/measure/fidelity", fidelity}, {"/measure/iterations", "3"}}).iteration.si();
    };
    const double message = seconds("message");
    EXPECT_NEAR(seconds("flow") / message, 1, tolerance(strategy)) << strategy;
    EXPECT_NEAR(seconds("analytic") / message, 1, tolerance(strategy)) << strategy;
  }
}

/// What nobody claims, copies out of buckets for one, is "other".
TEST(EveryStrategy, ButHorovodNegotiatesNothing) {
  for (const std::string& strategy : all_strategies) {
    const bool is_horovod = strategy.find("horovod") != std::string::npos;
    const TrainingPoint point = point_of(strategy, {{"/platform/topology", "dgx-a100"}, {"/platform/ranks", "8"}});
    EXPECT_TRUE(is_horovod || point.breakdown.negotiation == 0_s) << strategy;
    EXPECT_NEAR(point.breakdown.total() / point.iteration, 1, 1e-9) << strategy;
  }
}

TEST(EveryStrategy, OfMoreRanksNeverTrainsLessInAll) {
  for (const std::string& strategy : all_strategies) {
    const double one = point_of(strategy, {{"/platform/ranks", "1"}}).samples_per_second;
    const double eight =
        point_of(strategy, {{"/platform/ranks", "8"}, {"/platform/topology", "ethernet-100g"}}).samples_per_second;
    EXPECT_GT(eight, one) << strategy;
    EXPECT_LT(eight, 8 * one * (1 + 1e-9)) << strategy;
  }
}

TEST(EveryStrategy, ThatFusesSendsNoMoreMessagesWhenItFusesMore) {
  const auto collectives = [](const std::string& strategy) { return point_of(strategy, {}).collectives_per_iteration; };
  const std::vector<std::string> sizes{"0 B", "64 KiB", "1 MiB", "8 MiB", "64 MiB", "1 GiB"};
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const auto horovod = [&](std::size_t j) {
      return collectives(R"({"kind": "horovod", "fusion_threshold": ")" + sizes[j] + "\"}");
    };
    const auto ddp = [&](std::size_t j) {
      return collectives(R"({"kind": "ddp", "first_bucket": ")" + sizes[j] + R"(", "bucket_cap": ")" + sizes[j] +
                         "\"}");
    };
    EXPECT_LE(horovod(i), horovod(i - 1)) << sizes[i];
    EXPECT_LE(ddp(i), ddp(i - 1)) << sizes[i];
  }
}

TEST(EveryStrategy, WithoutOverlapOnAStarIsComputeAndClosedForms) {
  // VGG-16, 4 ranks, 25 Gbit/s: ddp with one bucket that is not copied takes T1 + 2 (n-1) (alpha + M / (n B)), and what
  // hooks need to divide gradients where they stand, 2 M at 732 GB/s; a server of its own takes n M / B for all pulls,
  // and as much for all pushes.
  const std::vector<test::Change> vgg{{"/workload/model", "vgg16"}};
  const double bytes = point_of(R"({"kind": "ddp"})", vgg).gradient_bytes.si();
  const double alone =
      point_of(R"({"kind": "ddp"})", {{"/workload/model", "vgg16"}, {"/platform/ranks", "1"}}).iteration.si();
  const double rate = 25e9 / 8;
  const double ddp = point_of(R"({"kind": "ddp", "overlap": false, "gradient_as_bucket_view": true,
                                  "first_bucket": "1 GiB", "broadcast_buffers": false})",
                              vgg)
                         .iteration.si();
  const double travels = alone + 2 * 3 * (2e-6 + bytes / (4 * rate)) + 2 * bytes / 732e9;
  EXPECT_GE(ddp / travels, 1);
  EXPECT_NEAR(ddp / travels, 1, 0.005);
  const double server = point_of(R"({"kind": "parameter_server", "overlap": false})", vgg).iteration.si();
  // Beyond that come latencies of some messages, and the update, which the server does for its workers.
  EXPECT_NEAR(server / (alone + 2 * 4 * bytes / rate), 1, 0.01);
}

}}  // namespace farandole::every_strategy_test
