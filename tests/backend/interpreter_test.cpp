// Every algorithm, run rank by rank over messages in memory, does what its operation promises.
#include "backend/interpreter.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "backend/data_place.hpp"
#include "backend/memory_ranks.hpp"
#include "collective/algorithms.hpp"

namespace farandole::interpreter_test { namespace {

std::int64_t wrong_after(const Schedule& schedule, std::int64_t size) {
  std::vector<std::int64_t> wrong(static_cast<std::size_t>(schedule.ranks));
  test::on_every_rank(schedule.ranks, [&](Endpoint& endpoint) {
    std::vector<float> data = test_data(schedule, endpoint.rank(), size);
    Interpreter(program_of(schedule, endpoint.rank(), size), endpoint).run(data);
    wrong[static_cast<std::size_t>(endpoint.rank())] = count_wrong(schedule, endpoint.rank(), size, data);
  });
  std::int64_t sum = 0;
  for (const std::int64_t of_a_rank : wrong) sum += of_a_rank;
  return sum;
}

TEST(Interpreter, GivesWhatIsPromisedByEveryAlgorithmWhateverTheSize) {
  for (const Algorithm& row : algorithms()) {
    for (const int ranks : {1, 2, 3, 4, 6, 8}) {
      Shape shape(ranks, ranks - 1);
      shape.ranks_per_node = 2;
      const Schedule schedule = row.build(shape);
      for (const std::int64_t size : {0, 1, 5, 97}) {
        EXPECT_EQ(wrong_after(schedule, size), 0)
            << row.name << " " << name(row.operation) << ", " << ranks << " ranks, " << size << " elements";
      }
    }
  }
}

TEST(Interpreter, RunsParameterServersInKeysAndWithSeveralServers) {
  for (const char* algorithm : {"dedicated", "dedicated_keys", "colocated"}) {
    for (const int servers : {1, 2, 3}) {
      Shape shape(6);
      shape.servers = servers;
      shape.segments = 4;
      EXPECT_EQ(wrong_after(find_algorithm(Operation::parameter_server, algorithm)->build(shape), 101), 0)
          << algorithm << ", " << servers << " servers";
    }
  }
}

/// An algorithm that forgets its last round leaves elements without all contributions: the check sees them.
TEST(DataCheck, SeesWhatAForgottenRoundLeavesWrong) {
  Schedule schedule = find_algorithm(Operation::allreduce, "ring")->build(Shape(4));
  --schedule.phases.back().repeats;
  EXPECT_EQ(wrong_after(schedule, 100), 100);  // each of 4 ranks misses one segment of 25
}

/// Sent and received in the same round: what goes out is what stood there when the round began.
TEST(Interpreter, SendsWhatStoodThereBeforeTheRound) {
  Schedule swap;
  swap.operation = Operation::allreduce;
  swap.ranks = 2;
  swap.phases.push_back({"swap", {{0, 1, 0, Action::copy}, {1, 0, 0, Action::copy}}});
  test::on_every_rank(2, [&](Endpoint& endpoint) {
    std::vector<float> data(3, static_cast<float>(endpoint.rank()));
    Interpreter(program_of(swap, endpoint.rank(), 3), endpoint).run(data);
    EXPECT_EQ(data, std::vector<float>(3, static_cast<float>(1 - endpoint.rank())));
  });
}

TEST(RankProgram, OfARingSendsAndReceivesOneSegmentARound) {
  const Schedule ring = find_algorithm(Operation::allreduce, "ring")->build(Shape(4));
  const RankProgram program = program_of(ring, 2, 40);
  ASSERT_EQ(program.rounds.size(), 6U);  // 2 (n - 1)
  for (const RankRound& round : program.rounds) {
    ASSERT_EQ(round.sends.size(), 1U);
    ASSERT_EQ(round.receives.size(), 1U);
    EXPECT_EQ(round.sends[0].peer, 3);
    EXPECT_EQ(round.receives[0].peer, 1);
    EXPECT_EQ(round.sends[0].elements(), 10);
  }
}

TEST(MemoryEndpoint, TellsEveryoneEverybodysNumbers) {
  test::on_every_rank(5, [](Endpoint& endpoint) {
    EXPECT_EQ(endpoint.allgather_scalar(endpoint.rank() + 0.1), (std::vector<double>{0.1, 1.1, 2.1, 3.1, 4.1}));
  });
}

}}  // namespace farandole::interpreter_test
