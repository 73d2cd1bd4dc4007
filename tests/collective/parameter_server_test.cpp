// Parameter servers proved, symbolically and on numbers, for every number of servers, however shards are made and sent.
#include <stdexcept>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "collective/algorithms/exchanges.hpp"
#include "collective/proof.hpp"

namespace farandole::parameter_server_test { namespace {

constexpr std::uint64_t seed = 20140606;

Shape shape_with(int ranks, int servers, int keys = 0) {
  Shape shape(ranks);
  shape.servers = servers;
  shape.segments = keys;
  return shape;
}

void expect_proved(const Schedule& schedule, int size) {
  EXPECT_EQ(disprove(schedule), std::nullopt) << schedule.ranks << " ranks, " << schedule.servers << " servers";
  EXPECT_EQ(disprove_numerically(schedule, size, seed), std::nullopt)
      << schedule.ranks << " ranks, " << schedule.servers << " servers";
}

TEST(ParameterServers, AreProvedForEveryNumberOfRanksAndServersAndSizesThatDoNotDivide) {
  for (int n = 1; n <= 33; ++n) {
    for (int servers = 1; servers <= n; ++servers) {
      expect_proved(colocated_parameter_servers(shape_with(n, servers)), 97);
      if (servers < n) expect_proved(dedicated_parameter_servers(shape_with(n, servers)), 97);
    }
  }
}

TEST(ParameterServers, AreProvedInKeys) {
  for (int n = 2; n <= 12; ++n) {
    for (int servers = 1; servers <= n; ++servers) {
      for (const int keys : {2, 3, 7}) {
        expect_proved(colocated_parameter_servers(shape_with(n, servers, keys)), 61);
        if (servers < n) expect_proved(keyed_parameter_servers(shape_with(n, servers, keys)), 61);
      }
    }
  }
}

TEST(ParameterServers, ThatOnlyServeStartWithNothingAndEndWithTheSum) {
  // Ranks 0 and 1 serve, 2 and 3 push 5 and 7: both get 12, whatever the servers are not asked for.
  std::vector<IntegerVector> buffers{IntegerVector::Zero(2), IntegerVector::Zero(2), IntegerVector::Constant(2, 5),
                                     IntegerVector::Constant(2, 7)};
  execute(dedicated_parameter_servers(shape_with(4, 2)), buffers);
  EXPECT_EQ(buffers[2], IntegerVector::Constant(2, 12));
  EXPECT_EQ(buffers[3], IntegerVector::Constant(2, 12));
  EXPECT_EQ(buffers[0][0], 12);
  EXPECT_EQ(buffers[1][1], 12);
}

TEST(ParameterServers, PushToThemselvesNothing) {
  for (const Phase& phase : colocated_parameter_servers(shape_with(5, 3)).phases) {
    EXPECT_EQ(phase.transfers.size(), 3U * 4U);
    for (const Transfer& transfer : phase.transfers) EXPECT_NE(transfer.from, transfer.to);
  }
}

TEST(ParameterServers, PushAKeyWhileTheOneBeforeIsPulled) {
  const Schedule schedule = keyed_parameter_servers(shape_with(3, 1, 4));
  ASSERT_EQ(schedule.phases.size(), 3U);
  const Phase& both = schedule.phases[1];
  EXPECT_EQ(both.repeats, 3);
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (const Transfer& transfer : both.transfers) {
      const bool is_push = transfer.to == 0;
      EXPECT_EQ(in_repeat(schedule, both, transfer, repeat).chunk, is_push ? repeat + 1 : repeat);
    }
  }
}

TEST(ParameterServers, SendTheTensorsTheyWereGiven) {
  Shape shape = shape_with(5, 2);
  shape.shards = {{10, 30}, {60}};
  const Schedule schedule = dedicated_parameter_servers(shape);
  EXPECT_EQ(schedule.weights, (std::vector<double>{10, 30, 60}));
  const ChunkSizes sizes(1000_B, schedule);
  for (const Transfer& transfer : schedule.phases[0].transfers) {
    EXPECT_EQ(sizes.of(schedule, schedule.phases[0], transfer), transfer.to == 0 ? 400_B : 600_B);
  }
}

TEST(ParameterServers, RefuseWhatDoesNotFit) {
  EXPECT_THROW(dedicated_parameter_servers(shape_with(4, 4)), std::invalid_argument);
  EXPECT_THROW(colocated_parameter_servers(shape_with(4, 5)), std::invalid_argument);
  Shape shards = shape_with(4, 2);
  shards.shards = {{1}};
  EXPECT_THROW(dedicated_parameter_servers(shards), std::invalid_argument);
  Shape both = shape_with(4, 1, 2);
  both.shards = {{1}};
  both.message_per_tensor = true;
  EXPECT_THROW(dedicated_parameter_servers(both), std::invalid_argument);
}

TEST(ParameterServers, ThatLoseOnePushAreRefused) {
  Schedule schedule = dedicated_parameter_servers(shape_with(6, 2));
  schedule.phases[0].transfers.pop_back();
  EXPECT_NE(disprove(schedule), std::nullopt);
  Schedule who = dedicated_parameter_servers(shape_with(6, 2));
  who.first_worker = 1;
  EXPECT_NE(disprove(who), std::nullopt);
}

std::vector<std::vector<double>> random_shards(int servers) {
  std::vector<std::vector<double>> shards;
  for (int server = 0; server < servers; ++server) {
    const auto sizes = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50));
    shards.emplace_back(sizes.begin(), sizes.end());
  }
  shards.front().push_back(1);
  return shards;
}

RC_GTEST_PROP(ParameterServers, AreRightForRandomServersShardsKeysAndSizes, ()) {
  const bool is_dedicated = *rc::gen::arbitrary<bool>();
  const int n = *rc::gen::inRange(2, 16);
  Shape shape = shape_with(n, *rc::gen::inRange(1, is_dedicated ? n : n + 1), *rc::gen::inRange(0, 5));
  if (*rc::gen::arbitrary<bool>()) {
    shape.shards = random_shards(shape.servers);
    shape.message_per_tensor = shape.segments < 2 && *rc::gen::arbitrary<bool>();
  }
  const Schedule schedule = is_dedicated ? dedicated_parameter_servers(shape) : colocated_parameter_servers(shape);
  RC_ASSERT(disprove(schedule) == std::nullopt);
  RC_ASSERT(disprove_numerically(schedule, *rc::gen::inRange(0, 300), *rc::gen::arbitrary<std::uint64_t>()) ==
            std::nullopt);
}

}}  // namespace farandole::parameter_server_test
