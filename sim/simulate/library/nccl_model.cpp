#include "simulate/library/nccl_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "collective/specification.hpp"

namespace farandole { inline namespace simulate {
namespace {

// Ported: nvlink of Pascal to Hopper (topo.h of the release that was tuned on them last: v2.10.3-1, v2.18.6-1,
// v2.20.3-1), ll_channel (v2.25.1-1's llMaxBws of one node over the channels of a DGX-1, DGX A100, DGX H100 and DGX
// B200) and nvls of Hopper (v2.28.3-1: nvlsEfficiency). Fitted: ll_wide and ll_rate to allgathers over two devices, the
// rest but nvls to allgathers and alltoalls over two and eight devices of one node of each
// (scenarios/published/collectives: dgx-a100-nccl-2-27, dgx-h100-nccl-2-29, hgx-b200-nccl-2-27); what four devices,
// reduce-scatters, allreduces and other machines of the generation take is predicted from it. nvls of Blackwell:
// aws-p6-b200-8ranks from 8 GiB on. Of Pascal and Volta nothing was measured so: a release's own latencies count.
constexpr std::array generations{
    NcclGeneration{.nvlink = 18, .ll_channel = 39.0 / 12},
    NcclGeneration{.nvlink = 22, .ll_channel = 39.0 / 12},
    NcclGeneration{20, 87.7 / 24, 8.0, 1.0, 22.5, 4.1, 10.3, .87, .3, .5, .85, 2.9, 125},
    NcclGeneration{20.6, 141.0 / 32, 4.5, .8, 14.6, 1.9, 8.0, .86, .15, .45, .85, .85, 195},
    NcclGeneration{37.6, 282.0 / 32, 7.6, 1.2, 19.7, .9, 8.0, .84, 1, .58, .666, 1.2, 300},
};

double gigabytes(BytesPerSecond rate) {
  return rate.si() / 1e9;
}

template <class T>
T named_in(const auto& names, std::string_view name, T otherwise) {
  const auto* const found = std::ranges::find(names, name);
  return found == names.end() ? otherwise : static_cast<T>(found - names.begin());
}

}  // namespace

std::size_t place_of(Operation operation) {
  switch (operation) {
    case Operation::broadcast:
      return 0;
    case Operation::reduce:
      return 1;
    case Operation::allgather:
      return 2;
    case Operation::reduce_scatter:
      return 3;
    default:
      return 4;
  }
}

std::size_t family_of(int capability) {
  return static_cast<std::size_t>(std::clamp(capability / 10 - 6, 0, 4));
}

int ring_steps_of(Operation operation, int members) {
  if (operation == Operation::allreduce) return 2 * (members - 1);
  return has_root(operation) ? members : members - 1;
}

int ring_hops_of(Operation operation, int members) {
  return has_root(operation) ? members - 1 : ring_steps_of(operation, members);
}

std::string name(NcclAlgorithm algorithm) {
  return nccl_algorithm_names.at(static_cast<std::size_t>(algorithm));
}

NcclAlgorithm nccl_algorithm(std::string_view name) {
  return named_in(nccl_algorithm_names, name, NcclAlgorithm::ring);
}

NcclProtocol nccl_protocol(std::string_view name) {
  return named_in(nccl_protocol_names, name, NcclProtocol::simple);
}

std::string name(NcclProtocol protocol) {
  return nccl_protocol_names.at(index_of(protocol));
}

BytesPerSecond nvlink_rate(int capability) {
  if (capability >= 100) return 50_GBps;
  return capability < 70 ? 20_GBps : 25_GBps;
}

NcclModel::NcclModel(const NcclTuning& tuning, const ChannelGraph& graph, Operation operation, int capability,
                     const NcclUse& use)
    : tuning_(tuning),
      graph_(graph),
      operation_(operation),
      capability_(capability),
      in_place_(use.in_place),
      by_one_process_(use.by_one_process),
      switches_add_(use.switches_add),
      devices_(generations.at(family_of(capability))),
      scale_(static_cast<std::size_t>(std::min(graph.nodes, 3) - 1)),
      generation_(std::max<std::size_t>(family_of(capability), 1) - 1) {
  inside_ = graph.inside == LinkClass::nvlink ? graph.nvlinks * tuning.nvlink.at(family_of(capability))
                                              : tried_rate(tried_between(70, tuning.newest), gigabytes(graph.pci));
  const bool shares_nodes = graph.ranks > graph.nodes;
  if (graph.nodes == 1) {
    rings_ = std::max(graph.nvlinks, 1);
    bus_ = inside_;
  } else {
    rings_ = graph.nics;
    nic_ = tried_rate(tried_between(capability, tuning.newest), gigabytes(graph.nic));
    bus_ = graph.nics * nic_;
    if (shares_nodes) bus_ = std::min(bus_, inside_);
  }
  if (capability == 80) bus_ = std::min(bus_, tuning.most_on_ampere);
}

double NcclModel::hop(LinkClass over, NcclAlgorithm algorithm, NcclProtocol protocol) const {
  return tuning_.hop.at(static_cast<std::size_t>(over)).at(static_cast<std::size_t>(algorithm)).at(index_of(protocol));
}

/// Of all channels: by generation on one node, by the processor's maker on several. NVIDIA's machines with Ampere have
/// AMD's, the others Intel's.
double NcclModel::ll_most() const {
  const bool is_amd = capability_ == 80;
  return tuning_.ll_most.at(graph_.nodes == 1 ? generation_ : is_amd ? 1 : 0).at(scale_);
}

double NcclModel::ring_rate(NcclProtocol protocol) const {
  if (protocol == NcclProtocol::simple) return bus_;
  if (protocol == NcclProtocol::ll) {
    const bool sums_twice = operation_ == Operation::allreduce || operation_ == Operation::reduce;
    const bool is_third = tuning_.ll_third && graph_.nodes == 1 && !sums_twice;
    return std::min(bus_ * (is_third ? 1 / 3.0 : tuning_.ring_ll_share), ll_most());
  }
  const bool is_alone = graph_.ranks < 2 * graph_.nodes;
  const double share = is_alone ? tuning_.ring_ll128_share_alone : tuning_.ring_ll128_share;
  const double channel =
      is_newer() ? tuning_.ring_ll128_newer.at(newer()) : tuning_.ring_ll128_per_channel.at(place_of(operation_));
  return std::min({bus_ * share, channel * rings_, tuning_.ring_ll128_most.at(place_of(operation_))});
}

/// Over two nodes trees are reckoned at the rate inside (tuning.cc: nNodes <= 2 ? bwIntra : bwInter), which the search
/// raises above the NICs' ("increase bwIntra for trees").
double NcclModel::tree_bus() const {
  if (graph_.nodes != 2 || graph_.nvlinks == 0) return bus_;
  return std::max(bus_, rings_ * tried_rate(tried_inside(capability_, tuning_.newest), inside_ / rings_));
}

double NcclModel::tree_rate(NcclProtocol protocol) const {
  const bool is_ll128 = protocol == NcclProtocol::ll128;
  const PerScale& most = is_ll128 && capability_ == 80 ? tuning_.tree_most_ll128_ampere : tuning_.tree_most;
  const double whole = std::min(
      {tree_bus() * tuning_.tree_share, rings_ * tuning_.tree_per_channel.at(generation_).at(scale_), most.at(scale_)});
  const PerProtocol& shares = graph_.nodes == 1 ? tuning_.tree_share_inside : tuning_.tree_share_between;
  double rate = whole * shares.at(index_of(protocol));
  if (protocol == NcclProtocol::ll) rate = std::min(rate, ll_most());
  const double channel = is_newer() ? tuning_.ring_ll128_newer.at(newer()) : tuning_.ring_ll128_per_channel.at(4);
  // Infinite times anything stays so: a release that sets no limit per channel sets none for trees either.
  if (is_ll128) rate = std::min(rate, channel * rings_ * tuning_.tree_ll128_of_ring);
  if (is_ll128 && is_newer()) rate = std::min(rate, tuning_.tree_ll128_newer.at(newer()).at(scale_) * rings_);
  return rate;
}

/// What the thread at the NIC takes for a step, that is to receive once and to send once (getNetOverhead of tuning.cc:
/// 1 us, with AMD's processors 2; of Simple three times that).
double NcclModel::posting(NcclProtocol protocol) const {
  const double once = capability_ == 80 ? 2 : 1;
  return protocol == NcclProtocol::simple ? 3 * once : once;
}

double ring_waits(Operation operation, const ChannelGraph& graph, NcclRingSteps counted, NcclProtocol protocol,
                  const NcclHop& hop, double posting) {
  const int steps = ring_hops_of(operation, graph.ranks);
  const bool is_exposed = counted == NcclRingSteps::net_as_trees && graph.ranks == graph.nodes;
  const double net = hop(LinkClass::net, is_exposed ? NcclAlgorithm::tree : NcclAlgorithm::ring, protocol);
  double inside = hop(graph.inside, NcclAlgorithm::ring, protocol);
  if (graph.nodes == 1) return steps * inside;
  if (counted == NcclRingSteps::all_alike) return steps * net;
  int crossing = ring_hops_of(operation, graph.nodes);
  if (counted == NcclRingSteps::net_apart) {
    if (protocol == NcclProtocol::ll) inside *= 1.8;
  } else {
    const bool counts_return = counted == NcclRingSteps::net_and_posting;
    if (operation == Operation::allreduce && counts_return) crossing = 2 * graph.nodes;
    inside = std::max(inside, posting);
  }
  return (steps - crossing) * inside + crossing * net;
}

double rooted_waits(const ChannelGraph& graph, bool has_same_channels, NcclProtocol protocol, const NcclHop& hop) {
  const LinkClass over = graph.nodes == 1 ? graph.inside : LinkClass::net;
  if (has_same_channels) return hop(over, NcclAlgorithm::ring, protocol);
  const bool is_simple = protocol == NcclProtocol::simple;
  return graph.ranks * hop(over, is_simple ? NcclAlgorithm::tree : NcclAlgorithm::ring, protocol);
}

double NcclModel::ring_hops(NcclProtocol protocol) const {
  return ring_waits(operation_, graph_, tuning_.ring_steps, protocol, std::bind_front(&NcclModel::hop, this),
                    posting(protocol));
}

double NcclModel::rooted_hops(NcclProtocol protocol) const {
  const bool has_same_channels = rings_ == 1 || (graph_.nodes == 1 && graph_.is_switched);
  return rooted_waits(graph_, has_same_channels, protocol, std::bind_front(&NcclModel::hop, this));
}

double NcclModel::tree_hops(NcclProtocol protocol, int chain) const {
  double inside = hop(graph_.inside, NcclAlgorithm::tree, protocol);
  if (graph_.nodes > 1 && protocol == NcclProtocol::ll && tuning_.ring_steps == NcclRingSteps::net_apart) inside *= 1.8;
  const double net = hop(LinkClass::net, NcclAlgorithm::tree, protocol);
  return 2 * (chain * inside + std::floor(std::log2(graph_.nodes)) * net);
}

bool NcclModel::is_allowed(NcclProtocol protocol) const {
  if (tuning_.simple_alone) return protocol == NcclProtocol::simple;
  if (protocol != NcclProtocol::ll128) return true;
  constexpr std::array made_for{70, 80, 90, 100};
  const bool knows = std::ranges::find(made_for, capability_) != made_for.end() && capability_ <= tuning_.newest;
  const bool is_near = graph_.inside == LinkClass::nvlink || graph_.ranks == graph_.nodes;  // alone: PATH_LOC
  return knows && is_near && (graph_.nodes == 1 || graph_.is_beside);
}

double NcclModel::plateau(NcclProtocol protocol, Bytes size) const {
  if (protocol != NcclProtocol::simple || graph_.nodes == 1 || operation_ != Operation::allreduce) return 1;
  switch (tuning_.plateau) {
    case NcclPlateau::none:
      return 1;
    case NcclPlateau::by_size:
      return size.si() >= graph_.ranks / 16.0 * 65536 ? 1.9 : 1;
    case NcclPlateau::by_size_per_channel:
      return std::floor(size.si() / (channels() * graph_.ranks)) >= 64 ? (capability_ < 80 ? 1.9 : 1.4) : 1;
  }
  return 1;
}

double NcclModel::correction(NcclProtocol protocol, Bytes size) const {
  const auto& row = tuning_.tree_correction.at(index_of(protocol));
  const double units = std::floor(size.si() / 64);
  const auto place = static_cast<std::size_t>(units < 1 ? 0 : std::floor(std::log2(units)));
  return place < row.size() ? row.at(place) : 1;
}

BytesPerSecond NcclModel::of_ring(double bus) const {
  return BytesPerSecond(1e9 * bus * graph_.ranks / ring_steps_of(operation_, graph_.ranks));
}

NcclCost NcclModel::cost(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
  if (is_nvls(algorithm)) return nvls_cost(algorithm, protocol);
  if (is_collnet(algorithm)) return collnet_cost(algorithm, protocol);
  if (algorithm == NcclAlgorithm::pat) return pat_cost(protocol);
  const bool is_tree = algorithm == NcclAlgorithm::tree;
  if (!is_allowed(protocol) || (is_tree && operation_ != Operation::allreduce)) return {};
  const double base = tuning_.base.at(is_tree ? 0 : 1).at(index_of(protocol)) * 1e-6;
  if (is_tree) {
    const BytesPerSecond rate(5e8 * tree_rate(protocol) * correction(protocol, size));
    return {Seconds(base), Seconds(1e-6 * tree_hops(protocol, graph_.ranks_per_node() - 1)), rate};
  }
  const double hops = 1e-6 * (has_root(operation_) ? rooted_hops(protocol) : ring_hops(protocol));
  const double more = plateau(protocol, size);
  return {Seconds(base * more), Seconds(hops * more), of_ring(ring_rate(protocol))};
}

NcclChoice NcclModel::choose(Bytes size) const {
  NcclChoice picked = pick(size);
  picked.cost = taken(picked, size);
  return picked;
}

NcclChoice NcclModel::pick(Bytes size) const {
  const DecisionCase asked{graph_.ranks, size, false, graph_.nodes, graph_.ranks_per_node()};
  if (const DecisionRule* rule = first_that_fits(tuning_.tuner, operation_, asked)) {
    return choice_of(nccl_algorithm(rule->algorithm), nccl_protocol(rule->protocol), size);
  }
  NcclChoice best;
  Seconds least = Seconds::infinity();
  for (const NcclAlgorithm algorithm : nccl_algorithms()) {
    for (const NcclProtocol protocol : nccl_protocols()) {
      const NcclChoice candidate = choice_of(algorithm, protocol, size);
      if (candidate.cost.rate == BytesPerSecond(0) || candidate.cost.time(size) >= least) continue;
      least = candidate.cost.time(size);
      best = candidate;
    }
  }
  return best;
}

/// Bytes that its threads have to have: a channel less, as long as they would have less (src/enqueue.cc).
double NcclModel::fills_a_channel(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const bool is_ring = algorithm == NcclAlgorithm::ring;
  const bool is_slow = is_ring && protocol == NcclProtocol::simple && bus_ <= 12;
  const double threads = protocol == NcclProtocol::ll128 ? 640 : is_slow ? 256 : 512;
  if (protocol == NcclProtocol::simple) return threads * 64;
  return threads * (is_ring && protocol == NcclProtocol::ll ? 8.0 * graph_.ranks : 8);
}

int NcclModel::channels_for(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
  if (is_nvls(algorithm)) return nvls_channels();
  if (is_collnet(algorithm)) return collnet_channels(algorithm, size);
  const double filled = std::floor(size.si() / fills_a_channel(algorithm, protocol));
  return static_cast<int>(std::clamp(filled, 1.0, double(channels())));
}

// Rates that NCCL's search tries for a channel (src/graph/search.cc).

namespace {

/// src/graph/search.cc: speedArray; 2.7 has 21 where later ones have 22 and 20. Of a NIC's 12.5 GB/s 12 are counted on.
constexpr std::array nccl_tried_rates{48., 30., 24., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3., 2.4, 1.2, .24, .12};

/// Likewise of a NIC's: sm90SpeedArrayInter and sm100SpeedArrayInter.
constexpr std::array tried_between_hopper{48., 45., 42., 40., 30., 24., 22., 20., 17.5,
                                          15., 12., 6.,  3.,  2.4, 1.2, .24, .12};
constexpr std::array tried_between_blackwell{96.,  48., 45.1, 42., 40., 30., 24., 22., 20.,
                                             17.5, 15., 12.,  6.,  3.,  2.4, 1.2, .24, .12};

}  // namespace

std::span<const double> tried_between(int capability, int newest) {
  if (std::min(capability, newest) >= 100) return tried_between_blackwell;
  if (capability >= 90) return tried_between_hopper;
  return nccl_tried_rates;
}

/// search.cc: speedArrayIntra, sm90SpeedArrayIntra and sm100SpeedArrayIntra.
std::span<const double> tried_inside(int capability, int newest) {
  static constexpr std::array ampere{40., 30., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3.};
  static constexpr std::array hopper{60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
  static constexpr std::array blackwell{90., 80., 70., 60., 50., 40., 30., 24., 20., 19., 18.};
  if (std::min(capability, newest) >= 100) return blackwell;
  if (capability >= 90) return hopper;
  return ampere;
}

double tried_rate(std::span<const double> rates, double link) {
  const auto possible = std::ranges::find_if(rates, [&](double rate) { return rate <= link; });
  return possible == rates.end() ? rates.back() : *possible;
}

}}  // namespace farandole::simulate
