// The typed reader of topology files; the format is described in topologies/README.md.
#include <string>

#include "platform/sections.hpp"

namespace farandole {
namespace {

void check_layout(const Topology::PcieTree& pcie, int devices, const Value& where) {
  const auto many = std::to_string(devices) + " devices";
  if (devices % pcie.sockets != 0) {
    where.fail("sockets that share the devices equally", many + " on " + std::to_string(pcie.sockets) + " sockets");
  }
  if (devices / pcie.sockets % pcie.devices_per_switch != 0) {
    where.fail(
        "PCIe switches that share the devices of a socket equally",
        std::to_string(devices / pcie.sockets) + " devices on switches of " + std::to_string(pcie.devices_per_switch));
  }
  if (pcie.sockets > 1 && !pcie.interconnect) {
    where.fail("an \"interconnect\" between the sockets", std::to_string(pcie.sockets) + " sockets without one");
  }
  if (pcie.sockets == 1 && pcie.interconnect) where.fail("an \"interconnect\" only between sockets", "one socket");
}

Topology::PcieTree read_pcie(const Value& value, int devices) {
  Section section = sourced(value);
  Topology::PcieTree pcie;
  pcie.link = read_link(section.child("link"));
  pcie.devices_per_switch = read_positive(section, "devices_per_switch", 1);
  pcie.sockets = read_positive(section, "sockets", 1);
  if (const auto interconnect = section.maybe("interconnect")) pcie.interconnect = read_link(*interconnect);
  section.finish();
  check_layout(pcie, devices, value);
  return pcie;
}

Topology::NvLink read_nvlink(const Value& value) {
  Section section = sourced(value);
  Topology::NvLink nvlink{read_link(section.child("link"))};
  section.finish();
  return nvlink;
}

void read_fabric(const Value& value, Topology& topology) {
  Section section = sourced(value);
  if (const auto pcie = section.maybe("pcie")) topology.pcie = read_pcie(*pcie, topology.devices_per_node);
  if (const auto nvlink = section.maybe("nvlink")) topology.nvlink = read_nvlink(*nvlink);
  section.finish();
}

void read_node(const Value& value, Topology& topology) {
  Section section = sourced(value);
  topology.devices_per_node = read_positive(section, "devices", 1);
  topology.device = section.required<std::string>("device");
  topology.measurements = section.optional<std::string>("measurements", "");
  if (const auto fabric = section.maybe("fabric")) read_fabric(*fabric, topology);
  topology.nic = read_link(section.child("nic"));
  section.finish();
  // Without a bus between them, devices of one node would exchange data in no time.
  if (topology.devices_per_node > 1 && !topology.pcie && !topology.nvlink) {
    value.fail("a \"fabric\" (\"pcie\" or \"nvlink\") between the devices",
               std::to_string(topology.devices_per_node) + " devices without one");
  }
}

Transport read_transport(const Value& value) {
  Section section = sourced(value);
  Transport transport;
  transport.name = section.required<std::string>("name");
  transport.intra_node_latency = section.optional<Seconds>("intra_node_latency", Seconds(0));
  transport.inter_node_latency = section.optional<Seconds>("inter_node_latency", Seconds(0));
  transport.launch = section.optional<Seconds>("launch", Seconds(0));
  transport.control_latency = section.optional<Seconds>("control_latency", Seconds(0));
  section.finish();
  return transport;
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
  topology.network = kind.builder.read(section.maybe("network"), topology);
  if (const auto transport = section.maybe("transport")) topology.transport = read_transport(*transport);
  if (const auto variability = section.maybe("variability")) read_variability(*variability, topology);
  section.finish();
  return topology;
}

}  // namespace farandole
