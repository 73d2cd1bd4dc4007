// Every strategy with every effect and every kind of traffic, chosen pairwise, at every fidelity: what must hold of all
// of them. Four ranks on two nodes, whose other devices may belong to another job.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "scenario/scenario_kit.hpp"

namespace farandole::products_test { namespace {

struct Choice {
  std::string name;
  std::string value;
  std::string more{};  // of a strategy: its collectives
};

const std::vector<Choice> strategies{
    {"horovod", R"({"kind": "horovod", "version": "0.21.0"})"},
    {"ddp", R"({"kind": "ddp"})"},
    {"ddp on two streams", R"({"kind": "ddp", "streams": 2})"},
    {"ddp on two streams by a library", R"({"kind": "ddp", "streams": 2})", R"({"allreduce": "nccl-2.10"})"},
    {"synchronous servers", R"({"kind": "parameter_server", "servers": 2})"},
    {"synchronous servers on the workers' hosts",
     R"({"kind": "parameter_server", "servers": "one per node", "colocated": true})"},
    {"asynchronous servers", R"({"kind": "parameter_server", "mode": "asynchronous"})"},
    {"asynchronous servers on the workers' hosts",
     R"({"kind": "parameter_server", "mode": "asynchronous", "servers": 2, "colocated": true})"},
    {"stale servers", R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1})"},
    {"stale servers on the workers' hosts",
     R"({"kind": "parameter_server", "mode": "stale_synchronous", "bound": 1, "servers": 2, "colocated": true})"},
    {"distributed replicated", R"({"kind": "distributed_replicated", "servers": 2})"},
    {"allgather", R"({"kind": "allgather", "overlap": false})"},
    {"local sgd", R"({"kind": "local_sgd", "period": 2})"},
    {"diloco", R"({"kind": "diloco", "worker_ranks": 2, "inner_steps": 2, "fragments": 2})"},
    {"diloco beside the next step", R"({"kind": "diloco", "inner_steps": 2, "overlap_steps": 1})"},
    {"fsdp", R"({"kind": "fsdp"})"},
    {"fsdp in groups", R"({"kind": "fsdp", "sharding_strategy": "HYBRID_SHARD", "shard_group": 2})"},
    {"zero 1", R"({"kind": "zero", "stage": 1})"},
    {"zero 3", R"({"kind": "zero", "stage": 3})"},
};

const std::vector<Choice> effects{
    {"jitter", R"({"step_jitter": "1 %"})"},
    {"a straggler", R"({"straggler": {"ranks": [1], "slowdown": "20 %"}})"},
    {"input", R"({"input": {"storage_samples_per_second": 700, "prefetch": 2, "variation": "5 %"}})"},
    {"compute share", R"({"communication_compute_share": "10 %"})"},
    {"a slow link", R"({"slow_links": {"nodes": [1], "rate": "50 %"}})"},
    {"OS noise", R"({"os_noise": {"period": "20 ms", "duration": "500 us"}})"},
};

constexpr const char* job_of_collectives = R"([{"kind": "job", "workload": {"model": "resnet18", "batch_per_rank": 8},
    "ranks": 4, "strategy": {"kind": "ddp"}, "placement": {"devices": [2, 3], "ranks_per_node": 2}}])";
constexpr const char* job_of_servers = R"([{"kind": "job", "workload": {"model": "resnet18", "batch_per_rank": 8},
    "ranks": 4, "strategy": {"kind": "parameter_server", "servers": 2, "colocated": true},
    "placement": {"devices": [2, 3], "ranks_per_node": 2}}])";

const std::vector<Choice> traffics{
    {"nobody", "[]"},
    {"constant traffic", R"([{"kind": "constant", "links": "*/nic0", "rate": "8 Gbit/s"}])"},
    {"traffic that comes and goes",
     R"([{"kind": "on_off", "links": "*/nic0", "rate": "8 Gbit/s", "on": "4 ms", "off": "4 ms"}])"},
    {"a job of collectives", job_of_collectives},
    {"a job with servers", job_of_servers},
};

const std::array<const char*, 3> fidelities{"analytic", "flow", "message"};

/// Which strategy, effect (-1: none) and traffic.
using Product = std::array<int, 3>;

std::string text(const Product& product, const char* fidelity) {
  const auto& [strategy, effect, traffic] = product;
  return strategies[static_cast<std::size_t>(strategy)].name + ", " +
         (effect < 0 ? "no effect" : effects[static_cast<std::size_t>(effect)].name) + ", " +
         traffics[static_cast<std::size_t>(traffic)].name + ", " + fidelity;
}

TrainingPoint run_beside(const std::string& traffic, const Choice& strategy, const std::string& effect,
                         const std::string& fidelity) {
  std::vector<test::Change> changes{
      {"/workload", R"({"model": "resnet18", "batch_per_rank": 16})"},
      {"/strategy", strategy.value},
      {"/effects", effect},
      {"/platform", R"({"topology": "roce25-4xp100", "ranks": 4,
                        "override": {"/nodes": 4, "/variability": {"device_spread": "0 %", "step_jitter": "0 %"}},
                        "placement": {"devices": [0, 1], "ranks_per_node": 2}, "traffic": )" +
                        traffic + "}"},
      {"/measure", R"({"iterations": 4, "warmup": 0, "fidelity": ")" + fidelity + R"("})"}};
  if (!strategy.more.empty()) changes.push_back({"/collectives", strategy.more});
  return test::run(changes).points.at(0);
}

TrainingPoint run(const Product& product, const char* fidelity) {
  const auto& [strategy, effect, traffic] = product;
  return run_beside(traffics[static_cast<std::size_t>(traffic)].value, strategies[static_cast<std::size_t>(strategy)],
                    effect < 0 ? "{}" : effects[static_cast<std::size_t>(effect)].value, fidelity);
}

bool has(const Product& product, const char* word) {
  return text(product, "").find(word) != std::string::npos;
}

/// Of a strategy: every effect, each beside the next kind of traffic, so that it meets all of them; over all
/// strategies every effect meets all of them, too.
std::vector<Product> products_of(int strategy) {
  std::vector<Product> products;
  for (int effect = 0; effect < static_cast<int>(effects.size()); ++effect) {
    products.push_back({strategy, effect, (effect + strategy) % static_cast<int>(traffics.size())});
  }
  return products;
}

/// What an effect or traffic leaves of an iteration at least. Exactly all of it, where what comes later never goes
/// ahead. Draws of 1 % may fall short of the mean. Where another job is on the links, both of them shift: what is
/// late may meet less of it. And Horovod's cycles may catch a gradient more. Servers on the workers' hosts share links
/// and cores with them: who is late leaves them to the others. Workers without a barrier that are disturbed no longer
/// do the same at the same moment: one's pulls then go beside another's pushes, which are half of it.
double least(const Product& product) {
  if (has(product, "asynchronous") || has(product, "stale")) return 0.5;
  if (has(product, "jitter") || has(product, "a job") || has(product, "horovod")) return 0.98;
  if (has(product, "on the workers' hosts")) return 0.99;
  return 1 - 1e-6;
}

/// By how much levels of detail may differ. Alone on the network and with collectives not at all, to a packet;
/// several flows that begin at once share one by one at `message`. Beside another job `flow` and `analytic` send a
/// phase of a collective as a flow per rank, `message` step by step, which a flow of servers does not wait for.
double level_bound(const Product& product) {
  return has(product, "a job") ? 1.2 : has(product, "servers") ? 1.03 : 1.01;
}

class Products : public testing::TestWithParam<int> {
 protected:
  const TrainingPoint& point(const Product& product, const char* fidelity) {
    const auto [place, is_new] = points_.try_emplace({product, fidelity});
    if (is_new) place->second = run(product, fidelity);
    return place->second;
  }
  void expect_an_account(const Product& product, const char* fidelity) {
    const TrainingPoint& own = point(product, fidelity);
    const Breakdown& parts = own.breakdown;
    EXPECT_NEAR(parts.total() / own.iteration, 1, 1e-6) << text(product, fidelity);
    for (const Seconds part : {parts.compute, parts.exposed_communication, parts.negotiation, parts.straggler,
                               parts.input, parts.checkpoint, parts.other}) {
      EXPECT_GE(part / own.iteration, -1e-9) << text(product, fidelity);
    }
    EXPECT_EQ(own.neighbours.size(), has(product, "a job") ? 1U : 0U) << text(product, fidelity);
  }
  void expect_no_shorter(const Product& product, const char* fidelity) {
    const double own = point(product, fidelity).iteration.si();
    const auto& [strategy, effect, traffic] = product;
    const double without_effect = point({strategy, -1, traffic}, fidelity).iteration.si();
    const double without_traffic = point({strategy, effect, 0}, fidelity).iteration.si();
    EXPECT_GE(own / without_effect, least(product)) << text(product, fidelity) << ", beside no effect";
    EXPECT_GE(own / without_traffic, least(product)) << text(product, fidelity) << ", beside no traffic";
  }

 private:
  std::map<std::pair<Product, std::string>, TrainingPoint> points_;
};

TEST_P(Products, OfAStrategyRunAddUpAreNoShorterThanWithoutAndAgreeBetweenLevels) {
  for (const Product& product : products_of(GetParam())) {
    for (const char* fidelity : fidelities) {
      expect_an_account(product, fidelity);
      expect_no_shorter(product, fidelity);
      const double level = point(product, fidelity).iteration / point(product, "message").iteration;
      EXPECT_LE(std::max(level, 1 / level), level_bound(product)) << text(product, fidelity) << ": " << level;
    }
  }
}

TEST_P(Products, OfAStrategyFollowFromTheSeed) {
  for (const Product& product : products_of(GetParam())) {
    const char* fidelity = fidelities[static_cast<std::size_t>(product[1]) % fidelities.size()];
    EXPECT_EQ(run(product, fidelity).iteration, run(product, fidelity).iteration) << text(product, fidelity);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Products, testing::Range(0, static_cast<int>(strategies.size())),
                         [](const auto& strategy) {
                           std::string name = strategies[static_cast<std::size_t>(strategy.param)].name;
                           std::erase_if(name, [](unsigned char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

TEST(ProductsOfAll, AreEveryPairOfAStrategyAnEffectAndAKindOfTraffic) {
  std::set<std::array<int, 3>> pairs;  // -1 for what is left out
  for (int strategy = 0; strategy < static_cast<int>(strategies.size()); ++strategy) {
    for (const auto& [s, e, t] : products_of(strategy)) {
      pairs.insert({s, e, -1});
      pairs.insert({s, -1, t});
      pairs.insert({-1, e, t});
    }
  }
  EXPECT_EQ(pairs.size(), strategies.size() * effects.size() + strategies.size() * traffics.size() +
                              effects.size() * traffics.size());
}

TEST(ProductsOfAll, HaveAJobOfOneRankThatMeetsNobody) {
  // All of its iteration is known when it begins, and nothing happens that would tell that it is over.
  for (const char* strategy : {R"({"kind": "fsdp"})", R"({"kind": "zero", "stage": 3})", R"({"kind": "ddp"})"}) {
    const std::string other = R"([{"kind": "job", "workload": {"model": "resnet18", "batch_per_rank": 8}, "ranks": 1,
        "strategy": )" + std::string(strategy) +
                              R"(, "placement": {"devices": [2], "ranks_per_node": 1}}])";
    const TrainingPoint point = run_beside(other, strategies.front(), "{}", "analytic");
    ASSERT_EQ(point.neighbours.size(), 1U) << strategy;
    EXPECT_NEAR(point.neighbours[0].beside / point.neighbours[0].alone, 1, 1e-9) << strategy;
  }
}

}}  // namespace farandole::products_test
