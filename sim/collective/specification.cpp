#include "collective/specification.hpp"

#include <cmath>

#include <fmt/format.h>

namespace farandole { inline namespace collective {
namespace {

bool has_blocks(Operation operation) {
  return operation == Operation::reduce_scatter || operation == Operation::allgather ||
         operation == Operation::gather || operation == Operation::scatter;
}

/// The rank whose block the chunk belongs to.
int block_of(const Schedule& schedule, Chunk chunk) {
  return static_cast<int>(chunk / (schedule.chunks / schedule.ranks));
}

std::optional<std::string> find_misfit_of_servers(const Schedule& schedule) {
  const int servers = schedule.servers;
  const int first = schedule.first_worker;
  if (schedule.operation != Operation::parameter_server) {
    if (servers == 0 && first == 0) return std::nullopt;
    return fmt::format("{} servers, which are for a parameter server", servers);
  }
  if (servers < 1 || servers > schedule.ranks) return fmt::format("{} servers, of {} ranks", servers, schedule.ranks);
  if ((first != 0 && first != servers) || first >= schedule.ranks) {
    return fmt::format("first worker {}, where {} of {} ranks serve", first, servers, schedule.ranks);
  }
  return std::nullopt;
}

/// Sizes relative to each other: some may be nothing, but not all, and what they sum up to is a number.
std::optional<std::string> find_misfit_of_weights(const Schedule& schedule) {
  if (schedule.weights.empty()) return std::nullopt;
  if (static_cast<Chunk>(schedule.weights.size()) != schedule.chunks) {
    return fmt::format("{} weights for {} chunks", schedule.weights.size(), schedule.chunks);
  }
  double sum = 0;
  for (const double weight : schedule.weights) {
    if (!(weight >= 0)) return fmt::format("a weight of {}, where none is below zero", weight);
    sum += weight;
  }
  if (sum > 0 && std::isfinite(sum)) return std::nullopt;
  return fmt::format("weights that sum up to {}", sum);
}

}  // namespace

std::optional<std::string> find_misfit(const Schedule& schedule) {
  const Chunk ranks = schedule.ranks;
  const Chunk chunks = schedule.chunks;
  if (ranks < 1 || chunks < 1) return fmt::format("{} ranks and {} chunks, where there must be some", ranks, chunks);
  if (schedule.rows < 1 || chunks % schedule.rows != 0) {
    return fmt::format("{} chunks in {} equal rows", chunks, schedule.rows);
  }
  if (schedule.root < 0 || schedule.root >= ranks) return fmt::format("root {}, of {} ranks", schedule.root, ranks);
  if (has_blocks(schedule.operation) && chunks % ranks != 0) {
    return fmt::format("{} chunks, which {} ranks cannot share equally", chunks, ranks);
  }
  if (schedule.operation == Operation::alltoall && (chunks != ranks * ranks || schedule.rows != ranks)) {
    return fmt::format("{} chunks in {} rows, not one from each of {} ranks to each", chunks, schedule.rows, ranks);
  }
  if (schedule.copies < 1 || chunks % schedule.copies != 0) {
    return fmt::format("{} chunks in {} equal copies", chunks, schedule.copies);
  }
  if (schedule.copies > 1 && schedule.operation != Operation::allreduce) {
    return fmt::format("{} copies of the array, which are for an allreduce", schedule.copies);
  }
  if (auto fault = find_misfit_of_servers(schedule)) return fault;
  return find_misfit_of_weights(schedule);
}

bool sums(Operation operation) {
  return operation == Operation::allreduce || operation == Operation::reduce_scatter ||
         operation == Operation::reduce || operation == Operation::barrier || operation == Operation::parameter_server;
}

bool has_root(Operation operation) {
  return operation == Operation::broadcast || operation == Operation::reduce || operation == Operation::gather ||
         operation == Operation::scatter;
}

bool contributes(const Schedule& schedule, int rank, Chunk chunk) {
  switch (schedule.operation) {
    case Operation::broadcast:
    case Operation::scatter:
      return rank == schedule.root;
    case Operation::allgather:
    case Operation::gather:
      return rank == block_of(schedule, chunk);
    case Operation::alltoall:
      return rank == chunk / schedule.ranks;
    case Operation::parameter_server:
      return rank >= schedule.first_worker;
    default:
      return true;
  }
}

bool has_postcondition(const Schedule& schedule, int rank, Chunk chunk) {
  switch (schedule.operation) {
    case Operation::reduce:
    case Operation::gather:
      return rank == schedule.root;
    case Operation::reduce_scatter:
    case Operation::scatter:
      return rank == block_of(schedule, chunk);
    case Operation::alltoall:
      return rank == chunk % schedule.ranks;
    case Operation::parameter_server:
      return rank >= schedule.first_worker;
    default:
      return chunk == first_copy(schedule, chunk);
  }
}

ExpectedCount expected_count(const Schedule& schedule, Chunk chunk, int source) {
  if (schedule.operation == Operation::barrier) return ExpectedCount::at_least_once;
  return contributes(schedule, source, chunk) ? ExpectedCount::once : ExpectedCount::never;
}

}}  // namespace farandole::collective
