#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/exchanges.hpp"

namespace farandole { inline namespace collective {
namespace {

/// The chunks of a server: all of them, or where they are keys the first.
struct Shard {
  Chunk first = 0;
  int count = 0;
};

/// Who serves, who works, and which chunks each server has.
struct Roles {
  int ranks;
  int servers;
  int first_worker;
  int keys;
  std::vector<Shard> shards{};
};

void require(bool is_right, const std::string& fault) {
  if (!is_right) throw std::invalid_argument(fault);
}

void check(const Shape& shape, const Roles& roles) {
  const int most = most_servers(roles.ranks, roles.first_worker > 0);
  require(roles.servers >= 1 && roles.servers <= most,
          fmt::format("{} parameter servers among {} ranks, not 1 to {}", roles.servers, roles.ranks, most));
  require(shape.shards.empty() || static_cast<int>(shape.shards.size()) == roles.servers,
          fmt::format("{} shards for {} parameter servers", shape.shards.size(), roles.servers));
  require(!shape.message_per_tensor || (roles.keys == 1 && !shape.shards.empty()),
          "a message per tensor, of a shard that is not made of tensors or is cut into keys");
}

/// Sizes of the chunks, server after server: none where all are alike.
std::vector<double> cut(const Shape& shape, Roles& roles) {
  std::vector<double> weights;
  for (int server = 0; server < roles.servers && shape.shards.empty(); ++server) {
    roles.shards.push_back({Chunk(server) * roles.keys, 1});
  }
  for (const std::vector<double>& tensors : shape.shards) {
    const double bytes = std::accumulate(tensors.begin(), tensors.end(), 0.0);
    const std::vector<double> keys(static_cast<std::size_t>(roles.keys), bytes / roles.keys);
    const std::vector<double>& pieces = roles.keys == 1 ? tensors : keys;
    roles.shards.push_back(
        {static_cast<Chunk>(weights.size()), roles.keys == 1 ? static_cast<int>(tensors.size()) : 1});
    weights.insert(weights.end(), pieces.begin(), pieces.end());
  }
  return weights;
}

/// Calls `visit(worker, server, shard)` for all that have something to say to each other.
template <class Visit>
void for_each_pair(const Roles& roles, Visit visit) {
  for (int server = 0; server < roles.servers; ++server) {
    const Shard& shard = roles.shards[static_cast<std::size_t>(server)];
    if (shard.count == 0) continue;  // fewer tensors than servers
    for (int worker = roles.first_worker; worker < roles.ranks; ++worker) {
      if (worker != server) visit(worker, server, shard);
    }
  }
}

void add_push(Phase& phase, const Roles& roles, int key) {
  for_each_pair(roles, [&](int worker, int server, const Shard& shard) {
    phase.transfers.push_back({worker, server, shard.first + key, Action::reduce, shard.count});
  });
}

void add_pull(Phase& phase, const Roles& roles, int key) {
  for_each_pair(roles, [&](int worker, int server, const Shard& shard) {
    phase.transfers.push_back({server, worker, shard.first + key, Action::copy, shard.count});
  });
}

/// Some serve equal shards in one message each, and the rest work: every worker sends to all servers, a shard further
/// on each, and every server its own to all workers.
std::vector<Phase> push_and_pull_apart(const Roles& roles) {
  const int workers = roles.ranks - roles.first_worker;
  Phase push{"push", {}, 1, 1};
  push.peer_step = 1;
  push.fan = roles.servers;
  for (int worker = roles.first_worker; worker < roles.ranks; ++worker) {
    push.transfers.push_back({worker, 0, 0, Action::reduce});
  }
  Phase pull{"pull", {}};
  pull.peer_step = 1;
  pull.fan = workers;
  for (int server = 0; server < roles.servers; ++server) {
    pull.transfers.push_back({server, roles.first_worker, server, Action::copy});
  }
  return {push, pull};
}

std::vector<Phase> push_and_pull(const Roles& roles, bool one_by_one) {
  Phase push{"push", {}};
  add_push(push, roles, 0);
  push.one_by_one = one_by_one;
  Phase pull{"pull", {}};
  add_pull(pull, roles, roles.keys - 1);
  pull.one_by_one = one_by_one;
  if (roles.keys == 1) return {push, pull};
  Phase both{"push_and_pull", {}, roles.keys - 1, 1};
  add_push(both, roles, 1);
  add_pull(both, roles, 0);
  return {push, both, pull};
}

Schedule build(const Shape& shape, const char* name, Roles roles) {
  check(shape, roles);
  std::vector<double> weights = cut(shape, roles);
  const Chunk chunks = weights.empty() ? Chunk(roles.servers) * roles.keys : static_cast<Chunk>(weights.size());
  const bool is_plain = weights.empty() && roles.keys == 1;
  Schedule schedule = blank(Operation::parameter_server, name, shape, chunks);
  schedule.servers = roles.servers;
  schedule.weights = std::move(weights);
  if (shape.ranks == 1) return schedule;
  schedule.first_worker = roles.first_worker;
  const bool is_apart = roles.first_worker == roles.servers && roles.ranks > roles.servers;
  if (is_plain && roles.first_worker == 0 && roles.servers == roles.ranks) {  // each an equal shard: the compact form
    schedule.phases = direct_allreduce(shape.ranks).phases;
    schedule.phases.front().name = "push";
    schedule.phases.back().name = "pull";
  } else if (is_plain && is_apart && !shape.message_per_tensor) {
    schedule.phases = push_and_pull_apart(roles);
  } else {
    schedule.phases = push_and_pull(roles, shape.message_per_tensor);
  }
  return schedule;
}

Schedule dedicated(const Shape& shape, const char* name) {
  const int servers = std::max(shape.servers, 1);
  return build(shape, name, {shape.ranks, servers, servers, std::max(shape.segments, 1)});
}

}  // namespace

int most_servers(int ranks, bool are_dedicated) {
  return are_dedicated ? std::max(ranks - 1, 1) : ranks;
}

Schedule dedicated_parameter_servers(const Shape& shape) {
  return dedicated(shape, "dedicated");
}

Schedule keyed_parameter_servers(const Shape& shape) {
  return dedicated(shape, "dedicated_keys");
}

Schedule colocated_parameter_servers(const Shape& shape) {
  const int servers = shape.servers > 0 ? shape.servers : shape.ranks;
  return build(shape, "colocated", {shape.ranks, servers, 0, std::max(shape.segments, 1)});
}

}}  // namespace farandole::collective
