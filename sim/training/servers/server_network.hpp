// Workers, servers and the links between them, with workers that behave alike aggregated.
//
// Called by server_run.hpp. A worker is a rank, or a node whose ranks add their gradients up before they push; a server
// is the software on a node's host. Where a server's software has a rate of its own, that is one more link, which
// everything to and from it crosses. The memory of a server's host is a link too: what servers on that node add up and
// update crosses it.
//
// Folding: workers are of one class when, for every server and direction, their routes cross links of the same classes,
// in order; links are of one class when they have the same capacity and are crossed by equally many flows of every
// class of workers, server and direction. This is the coarsest such partition, found by refinement; as in
// simulate/folding/fold.hpp, flows of one class then have the same rate at every moment, so one of them is carried, and
// the links it crosses count it as often as the class crosses them.
//
// Servers with nodes of their own that keep alike shards fold, too, however much workers differ: 128 that split every
// variable are one. They are of one class when each class of workers sees as many of them over links of the same
// classes; and only where then all flows between a class of workers and one of servers cross alike links, as all
// servers stay apart otherwise.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/connections.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "training/strategies/server_plan.hpp"

namespace farandole { inline namespace training {

/// Whether workers that behave alike are aggregated, every one is by itself, or all of it is mapped to a network
/// that others are on, too, whose links keep their numbers.
enum class Carried : std::uint8_t { together, apart, in_company };

/// Adds the memories of the servers' nodes to the links of a network that has none yet. `lent`: nodes whose servers
/// work in their workers' time, which is charged there (WorkerGroup::serving).
void add_memories(ServerNetwork& network, const std::vector<int>& server_nodes, BytesPerSecond rate,
                  const std::set<int>& lent = {});

/// A rank of every kind of place among the servers: ranks of one kind see the same servers over the same links.
/// `profile`: servers with equal numbers keep alike shards.
std::vector<int> ranks_apart(const Platform& platform, const Placement& placement, const std::vector<int>& server_nodes,
                             const ServerPlan& plan, const std::vector<int>& profile);

/// `server_nodes`: where each server is. `profile`: servers with equal numbers may be folded; empty: none.
ServerNetwork make_server_network(const Platform& platform, const Placement& placement,
                                  const std::vector<int>& server_nodes, const ServerPlan& plan, Carried carried,
                                  const std::vector<int>& profile = {});

/// What every link carries when each worker pushes and pulls all of the shards once; of a server's software its rate is
/// no link.
std::vector<Bytes> server_link_bytes(const Platform& platform, const Placement& placement, const ServerPlan& plan,
                                     const std::vector<Shard>& shards);

/// The node of each server: the workers' own in turn, or the lowest that carry no rank.
std::vector<int> server_nodes_of(const ServerPlan& plan, const Platform& platform, const Placement& placement);

}}  // namespace farandole::training
