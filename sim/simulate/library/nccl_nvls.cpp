// NVLink SHARP, in NCCL's cost model and chunk by chunk, and parallel aggregated trees (PAT).
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "simulate/library/nccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// What of the channels' rate releases before 2.28 count as the data's (tuning.cc).
constexpr double share_of_data = 5 / 6.0;

struct NvlsGeneration {
  std::array<int, 2> channels;      // that are laid on one node and on several (nvls.cc: NVLS_NCHANNELS)
  double efficiency;                // of the bus (v2.28.3-1, tuning.cc: nvlsEfficiency)
  PerScale most_of_a_tree_channel;  // of the bus (v2.28.3-1, tuning.cc: perChMaxNVLSTreeBws)
};
const NvlsGeneration hopper{{16, 16}, .85, {no_rate_limit, 57.7, 45.5}};
const NvlsGeneration blackwell{{24, 32}, .74, {no_rate_limit, 96.0, 43.1}};

/// src/include/device.h: NCCL_MAX_NVLS_ARITY.
constexpr int most_heads = 32;

/// src/transport/nvls.cc: NVLS_CHUNKSIZE; from four nodes on half of it (src/enqueue.cc: NVLSTREE_MAX_CHUNKSIZE).
constexpr double longest_chunk = 131072;
constexpr int many_nodes = 4;

/// src/enqueue.cc, calcCollChunking: of sums that CollNet adds up chunks are short where NCCL reckons with less (GB/s).
constexpr double short_chunk = 32768;
constexpr double rate_of_short_chunks = 150;

/// So few chunks at once of what is there, and none is longer than that.
struct ChunkRule {
  double times;
  double chunk;
};
/// src/enqueue.cc, calcCollChunking, of 2.24 and later; earlier releases are taken to have the same.
constexpr std::array<ChunkRule, 3> rules_inside{{{64, 65536}, {8, 32768}, {2, 16384}}};
constexpr std::array<ChunkRule, 2> rules_between{{{4, 65536}, {1, 32768}}};

const NvlsGeneration& known_generation(int capability, int newest) {
  return std::min(capability, newest) >= 100 ? blackwell : hopper;
}

double chunk_of(std::span<const ChunkRule> rules, double chunk, double at_once, double size) {
  for (const auto& [times, shorter] : rules) {
    if (size < times * at_once * chunk && chunk > shorter) chunk = shorter;
  }
  return chunk;
}

}  // namespace

/// A channel for every device whose NIC is beside it, each adding up its part through the switch (search.cc:
/// NCCL_TOPO_PATTERN_NVLS); between nodes half of their devices pass on what the others do, from three nodes on, or the
/// switches between them add up (CollNet). A node with one rank, or one NIC, has no such channel: nobody has (init.cc).
NcclCost NcclModel::nvls_cost(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const bool is_between = algorithm == NcclAlgorithm::nvls_tree;
  const bool adds_up = !is_between && graph_.nodes > 1 && adds_up_between() && tuning_.collnet->nvls_net > 0 &&
                       graph_.most_per_node() <= tuning_.collnet->most_by_chain;
  const bool is_there = tuning_.nvls && switches_add_ && capability_ >= 90 && graph_.is_switched &&
                        graph_.nvlinks > 0 && std::min(graph_.fewest_per_node, nvls_heads()) > 1 &&
                        (adds_up || is_between == (graph_.nodes > 1));
  if (!is_there || operation_ != Operation::allreduce || protocol != NcclProtocol::simple) return {};
  double hops = tuning_.nvls->inside;
  if (is_between) hops += 2 * std::floor(std::log2(graph_.nodes)) * tuning_.nvls->net;
  if (adds_up) hops += tuning_.collnet->nvls_net;
  return {Seconds(0), Seconds(1e-6 * hops), BytesPerSecond(1e9 * nvls_rate(algorithm, tuning_.nvls->counted))};
}

double NcclModel::nvls_rate(NcclAlgorithm algorithm, NcclNvlsRate counted) const {
  const NvlsGeneration& generation = known_generation(capability_, tuning_.newest);
  const int heads = nvls_heads();
  const bool is_bus = counted == NcclNvlsRate::bus;
  double channel = tried_rate(tried_inside(capability_, tuning_.newest), inside_ / heads);
  if (is_bus) channel *= 2 * generation.efficiency * (heads - 1) / heads;
  if (graph_.nodes > 1) {
    const bool is_tree = algorithm == NcclAlgorithm::nvls_tree;
    const double alone = is_bus ? 2 : 1;  // a NIC's share of two nodes, of more the half of it
    const double of_tree = graph_.nodes > 2 ? alone / 2 : alone;
    channel = std::min(channel, nic_ * (is_tree ? of_tree : 1));
    if (is_bus && is_tree) channel = std::min(channel, generation.most_of_a_tree_channel.at(scale_));
  }
  return heads * channel * (is_bus ? graph_.ranks / (2.0 * (graph_.ranks - 1)) : share_of_data);
}

int NcclModel::nvls_heads() const {
  const int most = std::min(graph_.ranks_per_node(), most_heads);
  return graph_.nodes > 1 ? std::min(most, graph_.nics) : most;
}

int NcclModel::nvls_channels() const {
  return known_generation(capability_, tuning_.newest).channels.at(graph_.nodes > 1 ? 1 : 0);
}

/// What the model does not know: every channel has a chunk for each device under way at once. A chunk passes three
/// stages (all give their parts to the switch, it adds up, all take the sum), and waits a hop, up and down between
/// nodes, before the next one follows. The model's rate is that of the longest chunks, and never more than 2.28's,
/// which knows what was measured.
NcclCost NcclModel::chunk_by_chunk(const NcclChoice& choice, Bytes size, NcclCost reckoned) const {
  constexpr double stages = 3;
  const bool is_between = choice.algorithm == NcclAlgorithm::nvls_tree;
  const double at_once = choice.channels * nvls_heads();
  const bool adds_up = !is_between && graph_.nodes > 1;
  double longest = is_between && graph_.nodes >= many_nodes ? longest_chunk / 2 : longest_chunk;
  if (adds_up && reckoned.rate.si() < 1e9 * rate_of_short_chunks) longest = short_chunk;
  const double ruled = is_between ? chunk_of(rules_between, longest, at_once, size.si())
                                  : chunk_of(rules_inside, longest, at_once, size.si());
  const double moved = std::min(at_once * ruled, size.si());
  const double wait = 1e-6 * (graph_.nodes > 1 ? 2 : 1) * hop(graph_.inside, NcclAlgorithm::ring, NcclProtocol::simple);
  const double measured =
      graph_.nodes == 1 ? devices_.nvls / known_generation(capability_, tuning_.newest).efficiency : 1;
  const double most = std::min(reckoned.rate.si(), 1e9 * measured * nvls_rate(choice.algorithm, NcclNvlsRate::bus));
  const double per_byte = 1 / most - wait / (at_once * longest);
  const double times = size.si() / moved;
  const double moving = (times - 1) * wait + (times + stages - 1) * moved * per_byte;
  return {reckoned.base, reckoned.hops, BytesPerSecond(size.si() / moving)};
}

/// Parallel aggregated trees (ncclPatEnable: one device a node, and from Pascal on).
NcclCost NcclModel::pat_cost(NcclProtocol protocol) const {
  const bool gathers = operation_ == Operation::allgather || operation_ == Operation::reduce_scatter;
  const bool is_there = tuning_.pat && gathers && graph_.nodes > 1 && graph_.ranks == graph_.nodes;
  if (!is_there || protocol != NcclProtocol::simple || capability_ < 60) return {};
  const double net = hop(LinkClass::net, NcclAlgorithm::tree, protocol) * tuning_.pat->net;
  const double hops = std::floor(std::log2(graph_.nodes)) * net + graph_.ranks * tuning_.pat->per_rank;
  return {Seconds(1e-6 * tuning_.pat->base), Seconds(1e-6 * hops), BytesPerSecond(1e9 * bus_ * tuning_.pat->share)};
}

}}  // namespace farandole::simulate
