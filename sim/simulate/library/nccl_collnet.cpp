// CollNet in NCCL's cost model: switches between nodes that add up (SHARP over InfiniBand).
//
// All devices of a node give their parts to those that have a NIC (the heads), at once (direct) or along a chain; each
// head sends its part to the network once, and takes the sum once. Of allreduces, and from 2.20 on of allgathers and
// reduce-scatters where every device is a head.
#include <algorithm>
#include <span>

#include "simulate/library/nccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// src/include/device.h: NCCL_MAX_DIRECT_ARITY, and itself.
constexpr int most_by_direct = 8;

/// src/include/device.h: NCCL_MAX_NTHREADS; tuning.cc: threadThresholds of CollNet, bytes.
constexpr double threads_of_a_channel = 640;
constexpr double fills_a_thread = 512;

}  // namespace

bool NcclModel::adds_up_between() const {
  return graph_.sharp && tuning_.collnet && !tuning_.simple_alone && graph_.nodes >= tuning_.collnet->fewest_nodes;
}

const NcclCollNetWay* NcclModel::collnet_way(NcclAlgorithm algorithm) const {
  if (!adds_up_between()) return nullptr;
  const NcclCollNet& known = *tuning_.collnet;
  const bool is_direct = algorithm == NcclAlgorithm::collnet_direct;
  const bool is_gather = operation_ == Operation::allgather || operation_ == Operation::reduce_scatter;
  const bool gathers =
      is_gather && is_direct && known.gathers != NcclCollNetGathers::none && graph_.most_per_node() <= graph_.nics;
  if (operation_ != Operation::allreduce && !gathers) return nullptr;
  if (graph_.most_per_node() > (is_direct ? most_by_direct : known.most_by_chain)) return nullptr;
  const bool has_switch = graph_.is_switched && graph_.nvlinks > 0;
  if (is_direct && known.direct_needs_switch && !has_switch) return nullptr;
  const auto& way = is_direct ? known.direct : known.chain;
  return way ? &*way : nullptr;
}

NcclCost NcclModel::collnet_cost(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const NcclCollNetWay* way = collnet_way(algorithm);
  const auto of = static_cast<std::size_t>(protocol);
  if (way == nullptr || way->share.at(of) == 0) return {};
  const int others = graph_.ranks_per_node() - 1;
  double inside = way->inside.at(graph_.inside == LinkClass::nvlink ? 0 : 1).at(of);
  if (protocol == NcclProtocol::ll && tuning_.ring_steps == NcclRingSteps::net_apart) inside *= 1.8;
  const bool is_direct = algorithm == NcclAlgorithm::collnet_direct;
  const bool is_exposed = tuning_.collnet->exposes_net && graph_.ranks == graph_.nodes;
  const double net = is_exposed ? hop(LinkClass::net, NcclAlgorithm::tree, protocol) : way->net.at(of);
  const double hops = 2 * ((is_direct ? std::min(1, others) : others) * inside + others * way->peer) + net;
  return {Seconds(1e-6 * way->base.at(of)), Seconds(1e-6 * hops),
          BytesPerSecond(1e9 * collnet_rate(algorithm) * way->share.at(of))};
}

/// What the search comes to (ncclTopoCompute): a channel for each NIC, and the highest rate inside the node, up to the
/// first that is twice the NIC's, at which the device that has most to send can send.
double NcclModel::collnet_channel(NcclAlgorithm algorithm) const {
  const NcclCollNet& known = *tuning_.collnet;
  const int members = graph_.ranks_per_node();
  double sends = 0;  // how many channels' rates, through the device that has most to send
  if (members > 1) {
    const bool is_direct = algorithm == NcclAlgorithm::collnet_direct && known.direct_has_search;
    const int ends = graph_.nics / members;  // chains that end with a device, of all
    sends = is_direct ? 1 + (graph_.nics - 1.0) / (members - 1) : graph_.nics - ends;
  }
  // search.cc: sm90SpeedArrayInter and sm100SpeedArrayInter of v2.25.1-1, which are alike.
  const std::span<const double> rates = is_newer() ? tried_between(90, 90) : std::span<const double>(known.tried);
  const auto can = [&](double rate) { return sends * rate <= inside_; };
  auto rate = std::ranges::find_if(rates, [&](double tried) { return tried <= nic_ && can(tried); });
  if (rate == rates.end()) return std::min(nic_, sends > 0 ? inside_ / sends : nic_);
  const double twice = 2 * *rate;
  while (rate != rates.begin() && *rate < twice && can(*(rate - 1))) --rate;
  return *rate;
}

double NcclModel::collnet_gathers(double channel) const {
  constexpr double of_one = .95;
  constexpr double of_eight = .85;
  const int members = graph_.ranks_per_node();
  if (tuning_.collnet->gathers == NcclCollNetGathers::nearest) return members * std::min(channel, .9 * nic_);
  const double weight = (members - 1) / 7.0;
  return members * channel * (weight * of_eight + (1 - weight) * of_one);
}

double NcclModel::collnet_rate(NcclAlgorithm algorithm) const {
  const NcclCollNet& known = *tuning_.collnet;
  const double channel = collnet_channel(algorithm);
  if (operation_ != Operation::allreduce) return collnet_gathers(channel);
  double bus = graph_.nics * channel;
  if (capability_ == 80) bus = std::min(bus, tuning_.most_on_ampere);
  if (algorithm == NcclAlgorithm::collnet_direct) {
    const double devices = static_cast<double>(graph_.ranks_per_node()) / graph_.nics;
    if (known.direct_counts_nics) bus /= devices - (devices - 1) / 2;
    if (is_newer()) bus *= known.direct_on_newer;
  }
  return bus / 2;
}

/// src/enqueue.cc, topoGetAlgoInfo: as many as its threads have something to do, of direct for every head; it asks less
/// of them wherever it comes to three quarters of a power of two.
int NcclModel::collnet_channels(NcclAlgorithm algorithm, Bytes size) const {
  const bool is_direct = algorithm == NcclAlgorithm::collnet_direct;
  double fills = threads_of_a_channel * fills_a_thread * (is_direct ? std::min(graph_.nics, most_by_direct) : 1);
  int used = channels();
  for (int step = 16; step >= 1 && size.si() < used * fills; step /= 2) {
    for (; used > step && size.si() < used * fills; --used) {
      if (is_direct && used == step + step / 2) fills /= 2;
    }
  }
  return used;
}

}}  // namespace farandole::simulate
