// NVLink SHARP, in NCCL's cost model and chunk by chunk, and parallel aggregated trees (PAT).
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "simulate/library/nccl_model.hpp"

namespace farandole::inline simulate {
namespace {

// search.cc: sm90SpeedArrayIntra and sm90SpeedArrayInter.
constexpr std::array tried_inside{60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
constexpr std::array tried_between{48., 45., 42., 40., 30., 24., 22., 20., 17.5, 15., 12., 6., 3., 2.4, 1.2, .24, .12};

/// src/transport/nvls.cc: NVLS_CHUNKSIZE; from four nodes on half of it (src/enqueue.cc: NVLSTREE_MAX_CHUNKSIZE).
constexpr double longest_chunk = 131072;
constexpr int many_nodes = 4;

/// So few chunks at once of what is there, and none is longer than that.
struct ChunkRule {
  double times;
  double chunk;
};
/// src/enqueue.cc, calcCollChunking, of 2.24 and later; earlier releases are taken to have the same.
constexpr std::array<ChunkRule, 3> rules_inside{{{64, 65536}, {8, 32768}, {2, 16384}}};
constexpr std::array<ChunkRule, 2> rules_between{{{4, 65536}, {1, 32768}}};

double chunk_of(std::span<const ChunkRule> rules, double chunk, double at_once, double size) {
  for (const auto& [times, shorter] : rules) {
    if (size < times * at_once * chunk && chunk > shorter) chunk = shorter;
  }
  return chunk;
}

}  // namespace

/// A channel for every device whose NIC is beside it, each adding up its part through the switch (search.cc:
/// NCCL_TOPO_PATTERN_NVLS); between nodes half of their devices pass on what the others do, from three nodes on.
NcclCost NcclModel::nvls_cost(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const bool is_between = algorithm == NcclAlgorithm::nvls_tree;
  const bool is_there = tuning_.nvls && capability_ >= 90 && graph_.is_switched && graph_.nvlinks > 0 &&
                        graph_.ranks_per_node() > 1 && is_between == (graph_.nodes > 1);
  if (!is_there || operation_ != Operation::allreduce || protocol != NcclProtocol::simple) return {};
  const int heads = nvls_heads();
  const bool is_bus = tuning_.nvls->counted == NcclNvlsRate::bus;
  double channel = tried_rate(tried_inside, graph_.nvlinks * tuning_.nvlink.at(3) / heads);
  if (is_bus) channel *= 2 * tuning_.nvls->share * (heads - 1) / heads;
  double hops = tuning_.nvls->inside;
  if (is_between) {
    const double nic = tried_rate(tried_between, graph_.nic.si() / 1e9);
    const double alone = is_bus ? 2 : 1;  // a NIC's share of two nodes, of more the half of it
    channel = std::min(channel, nic * (graph_.nodes > 2 ? alone / 2 : alone));
    if (is_bus) channel = std::min(channel, tuning_.nvls->tree_per_channel.at(scale_));
    hops += 2 * std::floor(std::log2(graph_.nodes)) * tuning_.nvls->net;
  }
  const double data = is_bus ? graph_.ranks / (2.0 * (graph_.ranks - 1)) : tuning_.nvls->share;
  return {Seconds(0), Seconds(1e-6 * latency_ * hops), BytesPerSecond(1e9 * heads * channel * data)};
}

int NcclModel::nvls_heads() const {
  return graph_.nodes > 1 ? std::min(graph_.ranks_per_node(), graph_.nics) : graph_.ranks_per_node();
}

/// What the model does not know: every channel has a chunk for each device under way at once. A chunk passes three
/// stages (all give their parts to the switch, it adds up, all take the sum), and waits a hop, up and down between
/// nodes, before the next one follows. The model's rate is that of the longest chunks.
NcclCost NcclModel::chunk_by_chunk(const NcclChoice& choice, Bytes size, NcclCost reckoned) const {
  constexpr double stages = 3;
  const bool is_between = choice.algorithm == NcclAlgorithm::nvls_tree;
  const double at_once = choice.channels * nvls_heads();
  const double longest = is_between && graph_.nodes >= many_nodes ? longest_chunk / 2 : longest_chunk;
  const double ruled = is_between ? chunk_of(rules_between, longest, at_once, size.si())
                                  : chunk_of(rules_inside, longest, at_once, size.si());
  const double moved = std::min(at_once * ruled, size.si());
  const double wait = 1e-6 * (is_between ? 2 : 1) * hop(graph_.inside, NcclAlgorithm::ring, NcclProtocol::simple);
  const double most =
      1e9 * nvls_heads() * most_of_an_nvls_tree_channel.at(scale_) * graph_.ranks / (2 * (graph_.ranks - 1));
  const double per_byte = 1 / std::min(reckoned.rate.si(), most) - wait / (at_once * longest);
  const double times = size.si() / moved;
  const double moving = (times - 1) * latency_ * wait + (times + stages - 1) * moved * per_byte;
  return {reckoned.base, reckoned.hops, BytesPerSecond(size.si() / moving)};
}

/// Parallel aggregated trees (ncclPatEnable: one device a node, and from Pascal on).
NcclCost NcclModel::pat_cost(NcclProtocol protocol) const {
  const bool gathers = operation_ == Operation::allgather || operation_ == Operation::reduce_scatter;
  const bool is_there = tuning_.pat && gathers && graph_.nodes > 1 && graph_.ranks == graph_.nodes;
  if (!is_there || protocol != NcclProtocol::simple || capability_ < 60) return {};
  const double net = hop(LinkClass::net, NcclAlgorithm::tree, protocol) * tuning_.pat->net;
  const double hops = std::floor(std::log2(graph_.nodes)) * net + graph_.ranks * tuning_.pat->per_rank;
  return {Seconds(1e-6 * latency_ * tuning_.pat->base), Seconds(1e-6 * latency_ * hops),
          BytesPerSecond(1e9 * bus_ * tuning_.pat->share)};
}

}  // namespace farandole::inline simulate
