// The typed reader of topology files; the format is described in topologies/README.md.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "config/limits.hpp"
#include "platform/read_node.hpp"
#include "platform/sections.hpp"

namespace farandole::inline platform {
namespace {

MessageCost read_message_cost(Section& section, bool eager_sends) {
  MessageCost cost;
  cost.eager_rate = section.optional<BytesPerSecond>("eager_rate", cost.eager_rate);
  if (eager_sends || cost.eager_rate < BytesPerSecond::infinity()) cost.rendezvous_from = Bytes::infinity();
  if (const auto value = section.maybe("rendezvous")) {
    Section rendezvous = sourced(*value);
    cost.rendezvous_from = rendezvous.required<Bytes>("from");
    cost.rendezvous = rendezvous.optional<Seconds>("latency", Seconds(0));
    rendezvous.finish();
    if (cost.rendezvous < cost.rendezvous_from / cost.eager_rate) {
      value->fail("a handshake that takes at least as long as copying that many bytes does");
    }
  }
  return cost;
}

Occupancy read_occupancy(const Value& value) {
  Section section = sourced(value);
  const auto send = section.required<Seconds>("send");
  const Occupancy occupancy{send, section.optional<Seconds>("receive", send)};
  section.finish();
  return occupancy;
}

Handshakes read_handshakes(const Value& value) {
  Section section = sourced(value);
  const Handshakes handshakes{section.required<Bytes>("ahead"), section.optional<Seconds>("skew", Seconds(0))};
  section.finish();
  return handshakes;
}

Transport read_transport(const Value& value) {
  Section section = sourced(value);
  Transport transport;
  transport.name = section.required<std::string>("name");
  transport.intra_node_latency = section.optional<Seconds>("intra_node_latency", Seconds(0));
  transport.inter_node_latency = section.optional<Seconds>("inter_node_latency", Seconds(0));
  transport.launch = section.optional<Seconds>("launch", Seconds(0));
  transport.library = section.optional<std::string>("library", "");
  constexpr int most_channels = 1024;
  if (const auto channels = section.maybe("channels")) transport.channels = read_between(*channels, 0, most_channels);
  transport.sharp = section.optional<bool>("sharp", false);
  if (const auto times = section.maybe("library_times")) transport.library_times = read_library_times(*times);
  transport.control_latency = section.optional<Seconds>("control_latency", Seconds(0));
  transport.reduce_rate = section.optional<BytesPerSecond>("reduce_rate", BytesPerSecond::infinity());
  transport.eager_sends = section.optional<bool>("eager_sends", false);
  for (const auto& [key, bytes] : {std::pair("send_window", &transport.send_window), {"burst", &transport.burst}}) {
    const auto size = section.maybe(key);
    if (size && !transport.eager_sends) size->fail(fmt::format("a \"{}\" only with \"eager_sends\"", key));
    if (size) *bytes = read<Bytes>(*size);
  }
  transport.message = read_message_cost(section, transport.eager_sends);
  if (const auto handshakes = section.maybe("handshakes")) transport.handshakes = read_handshakes(*handshakes);
  if (const auto occupancy = section.maybe("occupancy")) transport.occupancy = read_occupancy(*occupancy);
  section.finish();
  return transport;
}

/// SHARP is InfiniBand's, and of the releases known CollNet is in NCCL's from 2.7 on.
void require_collnet(const Value& sharp, const Topology& topology) {
  const std::string& library = topology.transport.library;
  if (!topology.nic.is_infiniband) {
    sharp.fail("false, as switches add up on InfiniBand only: the NIC's protocol \"infiniband\"", "true");
  }
  const bool is_older = library == "nccl-2.3" || library == "nccl-2.5";
  if (!library.empty() && (!library.starts_with("nccl-") || is_older)) {
    sharp.fail("false, as CollNet is in NCCL from nccl-2.7 on", fmt::format("true with \"{}\"", library));
  }
}

void read_variability(const Value& value, Topology& topology) {
  Section section = sourced(value);
  topology.device_spread = section.optional<Fraction>("device_spread", {}).value;
  topology.step_jitter = section.optional<Fraction>("step_jitter", {}).value;
  section.finish();
}

std::optional<int> read_node_count(const Value& value) {
  if (!value.is_string()) return read_at_least(value, 1);
  if (read<std::string>(value) != "as needed") value.fail("a number of nodes or \"as needed\"");
  return std::nullopt;
}

}  // namespace

Topology read_topology(const Value& where, const std::filesystem::path& file) {
  Section section = sourced(where);
  Topology topology;
  topology.file = file;
  topology.name = section.required<std::string>("name");
  topology.summary = section.required<std::string>("summary");
  const Value kind_value = section.child("kind");
  const auto& kind = find(topology_kinds(), read<std::string>(kind_value), "a topology kind", kind_value);
  topology.kind = kind.name;
  topology.nodes = read_node_count(section.child("nodes"));
  read_node(section.child("node"), topology);
  if (topology.nodes) {
    const Count devices = Count(*topology.nodes) * topology.devices_per_node;
    require_at_most(devices, most_devices, "devices", section.child("nodes"));
  }
  topology.network = kind.builder.read(section, topology);
  if (const auto count = kind.builder.nodes_per_group) topology.nodes_per_group = count(section.child("network"));
  if (const auto condition = section.maybe("condition")) topology.condition = read_condition(*condition);
  if (const auto transport = section.maybe("transport")) {
    topology.transport = read_transport(*transport);
    if (topology.transport.sharp) require_collnet(Section(*transport).child("sharp"), topology);
  }
  Transport& transport = topology.transport;
  if (!transport.handshakes && topology.nic.is_tcp && transport.library.starts_with("openmpi")) {
    transport.handshakes = open_mpi_over_tcp;
  }
  if (const auto variability = section.maybe("variability")) read_variability(*variability, topology);
  if (const auto priors =
          section.maybe("priors")) {  // of calibration, which reads them; nothing simulated depends on them
    for (const auto& prior : priors->members()) (void)prior.second.members();
  }
  if (const auto calibration = section.maybe("calibration")) {
    topology.calibration = read_calibration_record(*calibration);
  }
  section.finish();
  return topology;
}

}  // namespace farandole::inline platform
