// How much is sent, in how many pieces, and what a size is multiplied by: what a proof of the result does not see.
#include <gtest/gtest.h>

#include "collective/algorithms.hpp"
#include "collective/bus_factor.hpp"
#include "collective/chunk_sizes.hpp"
#include "config/error.hpp"

namespace farandole::counts_test { namespace {

Schedule built(Operation operation, const char* name, const Shape& shape) {
  return find_algorithm(operation, name)->build(shape);
}

/// Chunks that all ranks together receive.
Chunk received(const Schedule& schedule) {
  Chunk chunks = 0;
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t) {
        for_each_chunk(schedule, phase, transfer, [&](Chunk) { ++chunks; });
      });
    }
  }
  return chunks;
}

/// Of an allgather a rank lacks (n-1)/n of the data, of a reduce_scatter it has as much too many: none can send less.
TEST(SentData, OfOptimalAlgorithmsIsTheLeastThereCanBe) {
  for (int n = 2; n <= 17; ++n) {
    for (const char* name : {"ring", "bruck", "direct", "hierarchical"}) {
      const Schedule schedule = built(Operation::allgather, name, n);
      EXPECT_EQ(received(schedule), (n - 1) * schedule.chunks) << "allgather " << name << ", " << n;
    }
    for (const char* name : {"ring", "direct", "pairwise"}) {
      const Schedule schedule = built(Operation::reduce_scatter, name, n);
      EXPECT_EQ(received(schedule), (n - 1) * schedule.chunks) << "reduce_scatter " << name << ", " << n;
    }
    for (const char* name : {"ring", "direct"}) {
      const Schedule schedule = built(Operation::allreduce, name, n);
      EXPECT_EQ(received(schedule), 2 * (n - 1) * schedule.chunks) << "allreduce " << name << ", " << n;
    }
    for (const char* name : {"pairwise", "direct"}) {
      const Schedule schedule = built(Operation::alltoall, name, n);
      EXPECT_EQ(received(schedule), n * (n - 1)) << "alltoall " << name << ", " << n;
    }
    for (const char* name : {"chain", "binomial", "direct", "binary", "knomial", "double_tree"}) {
      const Schedule schedule = built(Operation::broadcast, name, n);
      EXPECT_EQ(received(schedule), (n - 1) * schedule.chunks) << "broadcast " << name << ", " << n;
    }
  }
}

/// Where nodes are full, every rank sends between them, and none of its blocks twice; else leaders do it for all.
TEST(SentData, OfAHierarchicalAllgatherCrossesBetweenNodesOncePerNode) {
  Shape shape(12);
  shape.ranks_per_node = 4;
  const Schedule schedule = built(Operation::allgather, "hierarchical", shape);
  ASSERT_EQ(schedule.phases.size(), 2U);
  EXPECT_EQ(schedule.phases[0].transfers.size(), 12U);
  EXPECT_EQ(received(schedule), 11 * schedule.chunks);
  shape.ranks_per_node = 5;
  const Schedule uneven = built(Operation::allgather, "hierarchical", shape);
  for (const Transfer& transfer : uneven.phases[1].transfers) EXPECT_EQ(transfer.from % 5, 0);
}

TEST(Segments, AreThoseOfTheLibrariesWhereNobodySays) {
  EXPECT_EQ(built(Operation::broadcast, "chain", 5).chunks, 8);
  EXPECT_EQ(built(Operation::reduce, "chain", 5).chunks, 1);
  EXPECT_EQ(built(Operation::broadcast, "double_tree", 5).chunks, 16);
  EXPECT_EQ(built(Operation::allreduce, "double_tree", 5).chunks, 16);
  Shape shape(5);
  shape.segments = 3;
  EXPECT_EQ(built(Operation::broadcast, "chain", shape).chunks, 3);
  EXPECT_EQ(built(Operation::allreduce, "double_tree", shape).chunks, 6);
}

TEST(Servers, AreOneApartOrAllTogetherWhereNobodySays) {
  const Schedule dedicated = built(Operation::parameter_server, "dedicated", 6);
  EXPECT_EQ(dedicated.servers, 1);
  EXPECT_EQ(dedicated.first_worker, 1);
  const Schedule colocated = built(Operation::parameter_server, "colocated", 6);
  EXPECT_EQ(colocated.servers, 6);
  EXPECT_EQ(colocated.first_worker, 0);
}

double factor(Operation operation, int ranks) {
  Schedule schedule;
  schedule.operation = operation;
  schedule.ranks = ranks;
  return bus_factor(schedule, 1);
}

/// doc/PERFORMANCE.md of nccl-tests.
TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(factor(Operation::allreduce, 8), 2 * 7 / 8.0);
  for (const Operation operation :
       {Operation::reduce_scatter, Operation::allgather, Operation::alltoall, Operation::gather, Operation::scatter})
    EXPECT_DOUBLE_EQ(factor(operation, 8), 7 / 8.0) << name(operation);
  EXPECT_DOUBLE_EQ(factor(Operation::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(factor(Operation::reduce, 8), 1);
  EXPECT_DOUBLE_EQ(factor(Operation::barrier, 8), 0);
}

/// The busiest port: a server sends its share to every worker; a worker sends all of the data, whatever servers there
/// are. A worker that serves sends its share to the other workers and what it does not serve itself to the servers.
TEST(BusFactor, OfParameterServersIsThatOfTheBusiestPort) {
  Schedule schedule;
  schedule.operation = Operation::parameter_server;
  schedule.ranks = 8;
  schedule.first_worker = schedule.servers = 2;
  EXPECT_DOUBLE_EQ(bus_factor(schedule, 0.5), 6 * 0.5);
  EXPECT_DOUBLE_EQ(bus_factor(schedule, 0.75), 6 * 0.75);
  schedule.first_worker = schedule.servers = 6;
  EXPECT_DOUBLE_EQ(bus_factor(schedule, 1 / 6.0), 1);
  schedule.first_worker = 0;
  schedule.servers = 8;
  EXPECT_DOUBLE_EQ(bus_factor(schedule, 1 / 8.0), 7 / 8.0 + 7 / 8.0);
  EXPECT_DOUBLE_EQ(bus_factor(schedule, 1), 7);
}

TEST(Keys, AreAsManyAsHoldAllOfAShard) {
  EXPECT_EQ(keys_in(Bytes(8), Bytes(4)), 2);
  EXPECT_EQ(keys_in(Bytes(9), Bytes(4)), 3);
  EXPECT_EQ(keys_in(Bytes(1), Bytes(4)), 1);
  EXPECT_EQ(keys_in(Bytes(0), Bytes(4)), 1);
  EXPECT_EQ(keys_in(Bytes(1 << 20), Bytes(1)), 1 << 20);
  EXPECT_THROW(keys_in(Bytes((1 << 20) + 1), Bytes(1)), InputError);
}

}}  // namespace farandole::counts_test
