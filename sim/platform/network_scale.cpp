#include "platform/network_scale.hpp"

#include "config/section.hpp"

namespace farandole { inline namespace platform {
namespace {

bool is_none(const NetworkScale& scale) {
  return scale.rate == 1 && scale.latency == 1;
}

Topology without_condition(Topology topology) {
  topology.condition = {};
  return topology;
}

void scale_link(const NetworkScale& scale, Link& link) {
  link.capacity *= scale.rate;
  link.wire *= scale.rate;
  link.latency *= scale.latency;
}

void scale_transport(double latency, Transport& transport) {
  for (Seconds* time :
       {&transport.intra_node_latency, &transport.inter_node_latency, &transport.launch, &transport.control_latency,
        &transport.message.rendezvous, &transport.occupancy.send, &transport.occupancy.receive}) {
    *time *= latency;
  }
  if (transport.handshakes) transport.handshakes->skew *= latency;
}

/// A node's processors are among its links, where a topology says what they can do for the network.
void scale_network(const NetworkScale& scale, Platform& platform) {
  const auto per_node = static_cast<int>(platform.node.links.size());
  for (int offset = 0; offset < per_node; ++offset) {
    if (offset != platform.node.cpu) scale_link(scale, platform.node.links[static_cast<std::size_t>(offset)]);
  }
  for (int link = 0; link < static_cast<int>(platform.links.size()); ++link) {
    const bool is_cpu = link < platform.first_network_link() && link % per_node == platform.node.cpu;
    if (!is_cpu) scale_link(scale, platform.links[static_cast<std::size_t>(link)]);
  }
  scale_transport(scale.latency, platform.transport);
  if (platform.mpi) scale_transport(scale.latency, *platform.mpi);
}

Platform scaled(const NetworkScale& scale, const Condition& condition, Platform platform, const Value& where) {
  scale_network(scale, platform);
  apply(condition, platform, where);
  return platform;
}

double read_factor(const Value& where, bool may_be_zero) {
  const double factor = read<double>(where);
  if (factor < 0 || (factor == 0 && !may_be_zero))
    where.fail(may_be_zero ? "0 or a number above it" : "a number above 0");
  return factor;
}

}  // namespace

NetworkScale read_network_scale(const Value& where) {
  Section section(where);
  NetworkScale scale;
  if (const auto rate = section.maybe("rate")) scale.rate = read_factor(*rate, false);
  if (const auto latency = section.maybe("latency")) scale.latency = read_factor(*latency, true);
  section.finish();
  return scale;
}

Platform build(const Topology& topology, const NetworkScale& scale, int nodes, const Value& where) {
  if (is_none(scale)) return build(topology, nodes, where);
  return scaled(scale, topology.condition, build(without_condition(topology), nodes, where), where);
}

Platform build_for(const Topology& topology, const NetworkScale& scale, const Placement& placement,
                   const Value& where) {
  if (is_none(scale)) return build_for(topology, placement, where);
  return scaled(scale, topology.condition, build_for(without_condition(topology), placement, where), where);
}

}}  // namespace farandole::platform
