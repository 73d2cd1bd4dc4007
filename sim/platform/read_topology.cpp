// The typed reader of topology files; the format is described in topologies/README.md.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "config/limits.hpp"
#include "platform/mpi_transport.hpp"
#include "platform/read_node.hpp"
#include "platform/sections.hpp"

namespace farandole { inline namespace platform {
namespace {

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

Topology read_topology(const Value& where, const std::filesystem::path& file, const TextReader& text) {
  Section section = sourced(where);
  Topology topology;
  topology.file = file;
  topology.name = section.required<Text>("name").value;
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
