// The typed reader of topology files; the format is described in topologies/README.md.
#include <algorithm>
#include <string>

#include "config/named.hpp"
#include "config/section.hpp"
#include "platform/mpi_transport.hpp"
#include "platform/sections.hpp"
#include "platform/topologies/wiring.hpp"
#include "platform/topology.hpp"

namespace farandole { inline namespace platform {
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

Topology::Staging read_staging(const Value& value) {
  Section section = sourced(value);
  Topology::Staging staging;
  staging.memory = read_link(section.child("memory"));
  staging.between_devices = section.optional("between_devices", false);
  section.finish();
  return staging;
}

Topology::PcieTree read_pcie(const Value& value, int devices) {
  Section section = sourced(value);
  Topology::PcieTree pcie;
  pcie.link = read_link(section.child("link"));
  pcie.devices_per_switch = read_positive(section, "devices_per_switch", 1);
  pcie.sockets = read_positive(section, "sockets", 1);
  if (const auto interconnect = section.maybe("interconnect")) pcie.interconnect = read_link(*interconnect);
  if (const auto staging = section.maybe("staging")) pcie.staging = read_staging(*staging);
  section.finish();
  check_layout(pcie, devices, value);
  return pcie;
}

/// [device, device, links].
Topology::NvLink::Bundle read_bundle(const Value& value, int devices) {
  const auto numbers = value.elements();
  if (numbers.size() != 3) value.fail("two devices and the number of links between them");
  const Topology::NvLink::Bundle bundle{read_at_least(numbers[0], 0), read_at_least(numbers[1], 0),
                                        read_between(numbers[2], 1, most_cables_together)};
  if (std::max(bundle.from, bundle.to) >= devices) value.fail("devices below " + std::to_string(devices));
  if (bundle.from == bundle.to) value.fail("two devices");
  return bundle;
}

std::vector<Topology::NvLink::Bundle> read_mesh(const Value& value, int devices) {
  std::vector<Topology::NvLink::Bundle> mesh;
  for (const Value& element : value.elements()) {
    const auto bundle = read_bundle(element, devices);
    const bool again = std::ranges::any_of(mesh, [&](const auto& other) {
      return std::minmax(other.from, other.to) == std::minmax(bundle.from, bundle.to);
    });
    if (again) element.fail("every pair of devices once");
    mesh.push_back(bundle);
  }
  if (mesh.empty()) value.fail("at least one pair of devices");
  return mesh;
}

Topology::NvLink read_nvlink(const Value& value, int devices) {
  Section section = sourced(value);
  Topology::NvLink nvlink;
  nvlink.link = read_link(section.child("link"));
  const auto mesh = section.maybe("mesh");
  const auto ports = section.maybe("links_per_device");
  if (mesh && ports) value.fail("a \"mesh\" or \"links_per_device\" into a switch, not both");
  if (mesh) nvlink.mesh = read_mesh(*mesh, devices);
  if (ports) nvlink.link.wire *= read_between(*ports, 1, most_cables_together);
  section.finish();
  return nvlink;
}

void read_fabric(const Value& value, Topology& topology) {
  Section section = sourced(value);
  if (const auto pcie = section.maybe("pcie")) topology.pcie = read_pcie(*pcie, topology.devices_per_node);
  if (const auto nvlink = section.maybe("nvlink")) topology.nvlink = read_nvlink(*nvlink, topology.devices_per_node);
  section.finish();
}

/// "socket0" ..., and "switch0" ... where there are PCIe switches.
std::vector<std::string> parts_of(const Topology& topology) {
  std::vector<std::string> parts{"socket0"};
  if (!topology.pcie) return parts;
  for (int socket = 1; socket < topology.pcie->sockets; ++socket) parts.push_back("socket" + std::to_string(socket));
  if (topology.pcie->devices_per_switch == 1) return parts;
  const int switches = topology.devices_per_node / topology.pcie->devices_per_switch;
  for (int index = 0; index < switches; ++index) parts.push_back("switch" + std::to_string(index));
  return parts;
}

std::vector<std::string> read_nic_places(const Value& value, const Topology& topology) {
  const auto parts = parts_of(topology);
  std::vector<std::string> places;
  for (const Value& element : value.elements()) places.push_back(read_named(element, "a part of the node", parts));
  if (places.empty()) value.fail("at least one NIC");
  require_at_most(places.size(), most_nics_of_node, "NICs", value);
  return places;
}

BytesPerSecond read_host_memory(const Value& value) {
  Section section = sourced(value);
  const auto rate = section.above_zero<BytesPerSecond>("memory_bandwidth");
  section.finish();
  return rate;
}

/// Without a bus between them, devices of one node would exchange data in no time.
void check_devices_joined(const Topology& topology, const Value& where) {
  const auto devices = static_cast<std::size_t>(topology.devices_per_node);
  if (devices == 1 || topology.pcie) return;
  if (!topology.nvlink) {
    where.fail("a \"fabric\" (\"pcie\" or \"nvlink\") between the devices",
               std::to_string(devices) + " devices without one");
  }
  const std::size_t pairs = devices * (devices - 1) / 2;
  if (!topology.nvlink->mesh.empty() && topology.nvlink->mesh.size() < pairs) {
    where.fail("a \"pcie\" tree for the devices without an NVLink between them",
               std::to_string(topology.nvlink->mesh.size()) + " of " + std::to_string(pairs) + " pairs joined");
  }
}

/// Reads the "node" of a topology file: devices, the buses and NVLinks between them, and where the NICs are.
///
/// Called by read_topology (platform/topology.hpp); fills in its part of the Topology.
void read_node(const Value& value, Topology& topology) {
  Section section = sourced(value);
  if (const auto devices = section.maybe("devices")) {
    topology.devices_per_node = read_between(*devices, 1, most_devices_of_node);
  }
  topology.device = section.required<std::string>("device");
  topology.measurements = section.optional<std::string>("measurements", "");
  if (const auto host = section.maybe("host")) topology.host_memory = read_host_memory(*host);
  if (const auto fabric = section.maybe("fabric")) read_fabric(*fabric, topology);
  const bool may_lack_nic = topology.kind == "graph";  // whose cables begin at the hosts
  if (const auto nic = section.maybe("nic"); nic || !may_lack_nic) {
    topology.nic = read_nic(nic ? *nic : section.child("nic"));
  }
  if (const auto places = section.maybe("nics_at")) topology.nics_at = read_nic_places(*places, topology);
  section.finish();
  check_devices_joined(topology, value);
}

void read_variability(const Value& value, Topology& topology) {
  Section section = sourced(value);
  topology.device_spread = section.optional<Fraction>("device_spread", {}).value;
  topology.step_jitter = section.optional<Fraction>("step_jitter", {}).value;
  section.finish();
}

void read_node_count(const Value& value, Topology& topology) {
  if (value.is_object()) {
    Section section(value);
    topology.unit = read_at_least(section.child("unit"), 1);
    topology.nodes = read_at_least(section.child("most"), topology.unit);
    return section.finish();
  }
  if (!value.is_string()) {
    topology.nodes = read_at_least(value, 1);
  } else if (read<std::string>(value) != "as needed") {
    value.fail("a number of nodes, \"as needed\" or {\"unit\": 32, \"most\": 1024}");
  }
}

/// Adds what the measurements settled to `fitted`.
void read_calibrated_parameter(const Value& where, std::vector<std::string>& fitted) {
  Section section(where);
  (void)section.required<std::string>("name");
  (void)section.required<std::string>("value");
  auto pointer = section.required<std::string>("pointer");
  const bool settled = !section.maybe_read<std::string>("not_identified");
  for (const char* note : {"standard_error", "between", "prior", "rows"}) (void)section.maybe_read<std::string>(note);
  section.finish();
  if (settled) fitted.push_back(std::move(pointer));
}

CalibrationRecord read_calibration_record(const Value& where) {
  Section section(where);
  CalibrationRecord record;
  record.sources = section.required<std::vector<std::string>>("source");
  record.date = section.required<std::string>("date");
  record.forced = section.maybe_read<std::string>("forced").has_value();
  if (const auto residuals = section.maybe("residuals"))
    record.median = Section(*residuals).optional<std::string>("median", "");
  for (const Value& parameter : section.child("parameters").elements())
    read_calibrated_parameter(parameter, record.fitted);
  // Notes for readers, which nothing simulated depends on.
  for (const char* note : {"residuals_of_runs", "held_out", "bands", "repeats"}) {
    if (const auto object = section.maybe(note)) (void)object->members();
  }
  if (const auto scatter = section.maybe("scatter")) {
    for (const auto& [size, share] : scatter->members()) (void)read<Fraction>(share);
  }
  if (const auto scenarios = section.maybe("of_scenarios")) {
    for (const Value& scenario : scenarios->elements()) (void)scenario.members();
  }
  section.finish();
  return record;
}

}  // namespace

Topology read_topology(const Value& where, const std::filesystem::path& file, const TextReader& text) {
  Section section = sourced(where);
  Topology topology;
  topology.file = file;
  topology.name = section.required<Text>("name").value;
  topology.summary = section.required<std::string>("summary");
  const Value kind_value = section.child("kind");
  const auto& kind = find(topology_kinds(), read<std::string>(kind_value), "a topology kind", kind_value);
  topology.kind = kind.name;
  read_node_count(section.child("nodes"), topology);
  read_node(section.child("node"), topology);
  if (topology.nodes) {
    const Count devices = Count(*topology.nodes) * topology.devices_per_node;
    require_at_most(devices, most_devices, "devices", section.child("nodes"));
  }
  topology.network = kind.builder.read(section, topology, text);
  if (const auto count = kind.builder.nodes_per_group) topology.nodes_per_group = count(section.child("network"));
  if (const auto condition = section.maybe("condition")) topology.condition = read_condition(*condition);
  if (const auto transport = section.maybe("transport")) read_transport(*transport, topology);
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

}}  // namespace farandole::platform
