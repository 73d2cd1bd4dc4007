// The typed reader of a topology's "transport" and of what MPI does there, "mpi" in it.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "config/limits.hpp"
#include "platform/mpi_transport.hpp"
#include "platform/sections.hpp"

namespace farandole { inline namespace platform {
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

/// Of messages, alike for a transport and for MPI's; what is left out stays as it is.
void read_messages(Section& section, const std::string& protocol, Transport& transport) {
  transport.library = section.optional<std::string>("library", transport.library);
  for (const auto& [key, time] : {std::pair("intra_node_latency", &transport.intra_node_latency),
                                  {"inter_node_latency", &transport.inter_node_latency},
                                  {"launch", &transport.launch},
                                  {"control_latency", &transport.control_latency}}) {
    *time = section.optional<Seconds>(key, *time);
  }
  transport.reduce_rate = section.optional<BytesPerSecond>("reduce_rate", transport.reduce_rate);
  transport.eager_sends = section.optional<bool>("eager_sends", false);
  for (const auto& [key, bytes] : {std::pair("send_window", &transport.send_window), {"burst", &transport.burst}}) {
    const auto size = section.maybe(key);
    if (size && !transport.eager_sends) size->fail(fmt::format("a \"{}\" only with \"eager_sends\"", key));
    if (size) *bytes = read<Bytes>(*size);
  }
  const bool has_limit = section.maybe("rendezvous") || section.maybe("eager_rate") || transport.eager_sends;
  if (has_limit) transport.message = read_message_cost(section, transport.eager_sends);
  if (const auto handshakes = section.maybe("handshakes")) {
    transport.handshakes = read_handshakes(*handshakes);
  } else if (protocol == "tcp" && library_family(transport.library) == "openmpi") {
    transport.handshakes = open_mpi_over_tcp;
  }
  if (const auto occupancy = section.maybe("occupancy")) transport.occupancy = read_occupancy(*occupancy);
}

bool is_of_devices(const std::string& library) {
  const std::string family = library_family(library);
  return family == "nccl" || family == "rccl";
}

/// Of `transport`, beside which MPI has numbers of its own; nothing where it has not.
std::optional<Transport> read_mpi(const std::optional<Value>& value, const std::string& protocol,
                                  const Transport& transport) {
  if (!value) {
    auto mpi = is_of_devices(transport.library) ? mpi_over(protocol, transport) : std::nullopt;
    if (mpi && protocol == "tcp") mpi->handshakes = open_mpi_over_tcp;
    return mpi;
  }
  Section section = sourced(*value);
  const auto known = mpi_over(protocol, transport);
  Transport mpi = known.value_or(Transport{});
  mpi.name = known ? section.optional<std::string>("name", known->name) : section.required<std::string>("name");
  if (mpi.library.empty()) mpi.library = "openmpi-4";
  read_messages(section, protocol, mpi);
  section.finish();
  return mpi;
}

/// The machine's library is an MPI: all that is sent there is as `mpi` says.
Transport carried_by(Transport mpi, const Transport& transport) {
  mpi.library = transport.library;
  mpi.channels = transport.channels;
  mpi.library_times = transport.library_times;
  return mpi;
}

/// SHARP is InfiniBand's, and of the releases known CollNet is in NCCL's from 2.7 on.
void require_collnet(const Value& sharp, const Topology& topology) {
  const std::string& library = topology.transport.library;
  if (topology.nic.protocol != "infiniband") {
    sharp.fail("false, as switches add up on InfiniBand only: the NIC's protocol \"infiniband\"", "true");
  }
  const bool is_older = library == "nccl-2.3" || library == "nccl-2.5";
  if (!library.empty() && (library_family(library) != "nccl" || is_older)) {
    sharp.fail("false, as CollNet is in NCCL from nccl-2.7 on", fmt::format("true with \"{}\"", library));
  }
}

}  // namespace

void read_transport(const Value& value, Topology& topology) {
  Section section = sourced(value);
  Transport& transport = topology.transport;
  transport.name = section.required<std::string>("name");
  read_messages(section, topology.nic.protocol, transport);
  constexpr int most_channels = 1024;
  if (const auto channels = section.maybe("channels")) transport.channels = read_between(*channels, 0, most_channels);
  if (const auto sharp = section.maybe("sharp")) transport.sharp = read<bool>(*sharp);
  if (transport.sharp) require_collnet(section.child("sharp"), topology);
  if (const auto times = section.maybe("library_times")) transport.library_times = read_library_times(*times);
  topology.mpi = read_mpi(section.maybe("mpi"), topology.nic.protocol, transport);
  section.finish();
  if (!topology.mpi || !is_mpi(transport.library)) return;
  transport = carried_by(std::move(*topology.mpi), transport);
  topology.mpi.reset();
}

}}  // namespace farandole::platform
