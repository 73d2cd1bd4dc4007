#include "platform/mpi_transport.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "config/section.hpp"
#include "platform/sections.hpp"

namespace farandole { inline namespace platform {
namespace {

// From device to device, 1 B: oracle-japan/ocitutorials, content/hpc/benchmark/run-omb-gpu/index.md (osu_latency 7.5,
// Open MPI over UCX, A100): 2.48 us inside a node over NVLink, 3.89 us between nodes over ConnectX.
constexpr Seconds inside_with_nvlink(2.48e-6);

// Open MPI over UCX 1.8 and later, InfiniBand (rc_mlx5). Between hosts, HDR: osu_latency and osu_bw 5.8 of
// converged-computing/usernetes-azure@18e2e7ef, experiments/README.md, 2 nodes with AMD's processors: 1.61 us at 1 B;
// 8 KiB take 4.09 us, of which 2.15 are neither that nor the wire's 24.84 GB/s: copied at 3.81 GB/s; 64 KiB take 9.46
// us, of which 5.2 are neither: the handshake. 3.88 MB/s at 1 B: .26 us of a processor for each.
//
// From which size on: openucx/ucx, src/ucp/core/ucp_ep.c (v1.8 to v1.15), ucp_ep_config_calc_rndv_thresh, with
// latencies of .6 us (src/uct/ib/base/ib_iface.c, uct_ib_iface_query, EDR to NDR), an overhead of 40 ns
// (rc_mlx5_common.h, UCT_RC_MLX5_IFACE_OVERHEAD), registered memory in 180 ns (UCX_RCACHE_OVERHEAD), copies at 5,008
// MiB/s (src/ucs/arch/cpu.c, ucs_cpu_est_bcopy_bw, AMD), 1 % (UCX_RNDV_PERF_DIFF) and HDR's 24.84 GB/s:
//   (.99 (2 * .18 + 4 * .6 + 3 * .04) - .18 - .04) us / (1 / 5.251 - .99 / 24.84) ns = 17.5 kB
// The table's bandwidth, which stands still from 8 to 16 KiB only, agrees.
Transport ucx() {
  return {.name = "UCX over InfiniBand",
          .intra_node_latency = inside_with_nvlink,
          .inter_node_latency = Seconds(3.89e-6),
          .control_latency = Seconds(1.61e-6),
          .library = "openmpi-4",
          .message = {Bytes(17480), Seconds(5.2e-6), BytesPerSecond(3.81e9)},
          .occupancy = {Seconds(.26e-6), Seconds(.26e-6)}};
}

// Cray MPICH over libfabric's cxi, Slingshot 11: EESSI/docs@914e6260, docs/blog/posts/2026/05/
// eessi-cray-slingshot11-part2.md, OSU 7.5 between devices of two nodes, cray-mpich 8.1.32, libfabric 1.22: 2.76 us at
// 1 B; 4 KiB take 4.66 us, of which 1.73 are neither that nor the wire's 24.5 GB/s: copied at 2.36 GB/s; 8 and 64 KiB
// take 7.59 and 9.92 us, of which 4.5 are neither: the handshake (4 MiB: 178.4, measured 180.4). osu_bibw moves 1.06
// MB/s at 1 B both ways together, each end sending and receiving: .94 us of its processor for each.
//
// From which size on: ofiwg/libfabric until 1.22, prov/cxi/include/cxip.h, CXIP_RDZV_THRESHOLD 2048, and rdzv_get_min
// 2049 (prov/cxi/src/cxip_info.c): 4,097 bytes are eager still; the table has 4 KiB on one side, 8 KiB on the other.
// MPICH draws no line of its own. Inside a node: assumed as Open MPI's, for the same cudaIpc or hipIpc copies.
Transport cxi() {
  return {.name = "libfabric's cxi over Slingshot",
          .intra_node_latency = inside_with_nvlink,
          .inter_node_latency = Seconds(2.76e-6),
          .library = "mpich",
          .message = {Bytes(4098), Seconds(4.5e-6), BytesPerSecond(2.36e9)},
          .occupancy = {Seconds(.94e-6), Seconds(.94e-6)}};
}

/// Open MPI's own TCP: as between hosts, which is what NCCL's transport says of its control plane; long from 64 KiB on
/// (MessageCost).
Transport over_tcp(const Transport& beside) {
  Transport transport;
  transport.name = "MPI over TCP";
  transport.library = "openmpi-4";
  transport.intra_node_latency = beside.intra_node_latency;
  transport.control_latency = beside.control_latency;
  const bool is_said = beside.control_latency > Seconds(0);
  transport.inter_node_latency = is_said ? beside.control_latency : beside.inter_node_latency;
  return transport;
}

}  // namespace

std::string library_name(const std::string& library) {
  const bool is_file = library.find('/') != std::string::npos || library.ends_with(".json");
  return is_file ? std::filesystem::path(library).stem().string() : library;
}

std::string library_family(const std::string& library) {
  const std::string name = library_name(library);
  return name.substr(0, name.find('-'));
}

bool is_mpi(const std::string& library) {
  const std::string family = library_family(library);
  return family == "openmpi" || family == "mpich";
}

std::optional<Transport> mpi_over(const std::string& protocol, const Transport& transport) {
  if (protocol == "infiniband" || protocol == "roce_v2") return ucx();
  if (protocol == "slingshot") return cxi();
  if (protocol == "tcp") return over_tcp(transport);
  return std::nullopt;
}

// The typed reader of a topology's "transport" and of what MPI does there, "mpi" in it.

namespace {

void read_rendezvous(const Value& value, MessageCost& cost) {
  Section section = sourced(value);
  cost.rendezvous_from = section.required<Bytes>("from");
  cost.rendezvous = section.optional<Seconds>("latency", Seconds(0));
  section.finish();
  if (cost.rendezvous < cost.rendezvous_from / cost.eager_rate) {
    value.fail("a handshake that takes at least as long as copying that many bytes does");
  }
}

MessageCost read_message_cost(Section& section, bool eager_sends) {
  MessageCost cost;
  cost.eager_rate = section.optional<BytesPerSecond>("eager_rate", cost.eager_rate);
  if (eager_sends || cost.eager_rate < BytesPerSecond::infinity()) cost.rendezvous_from = Bytes::infinity();
  if (const auto value = section.maybe("rendezvous")) read_rendezvous(*value, cost);
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
  if (const auto nic = section.maybe("nic_rendezvous")) read_rendezvous(*nic, transport.nic);
  if (const auto times = section.maybe("library_times")) transport.library_times = read_library_times(*times);
  topology.mpi = read_mpi(section.maybe("mpi"), topology.nic.protocol, transport);
  section.finish();
  if (!topology.mpi || !is_mpi(transport.library)) return;
  transport = carried_by(std::move(*topology.mpi), transport);
  topology.mpi.reset();
}

}}  // namespace farandole::platform
