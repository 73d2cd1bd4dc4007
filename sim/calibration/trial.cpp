#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "calibration/fit.hpp"
#include "config/document.hpp"
#include "config/section.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace calibration {
namespace {

struct Row {
  const char* name;
  const char* pointer;
  ParameterKind kind;
  const char* needs;         // a value that must be in the file for this one to have a meaning
  const char* but_not = "";  // and one that must not: it has the same meaning
};

constexpr std::array table{
    Row{"host time per byte at the NIC", "/node/nic/host_rate", ParameterKind::time_per_byte, "/node/nic"},
    Row{"latency between nodes", "/node/nic/latency", ParameterKind::time, "/node/nic/latency",
        "/transport/inter_node_latency"},
    Row{"latency between nodes", "/transport/inter_node_latency", ParameterKind::time, "/node/nic"},
    Row{"host time per byte on PCIe", "/node/fabric/pcie/link/host_rate", ParameterKind::time_per_byte,
        "/node/fabric/pcie/link"},
    Row{"host time per byte on NVLink", "/node/fabric/nvlink/link/host_rate", ParameterKind::time_per_byte,
        "/node/fabric/nvlink/link"},
    Row{"latency inside a node", "/transport/intra_node_latency", ParameterKind::time, "/node/fabric"},
    Row{"launch of a collective", "/transport/launch", ParameterKind::time, "/node"},
    Row{"processor's time for a message", "/transport/occupancy/send", ParameterKind::time, "/node"},
    Row{"window of a connection", "/transport/send_window", ParameterKind::size, "/transport/eager_sends"},
    Row{"burst of an idle link", "/transport/burst", ParameterKind::size, "/transport/burst"},
    Row{"time to sum up a byte", "/transport/reduce_rate", ParameterKind::time_per_byte, "/node"},
};

/// What a pointer names; the whole document where it is none.
std::optional<Value> value_at(const Document& topology, const std::string& pointer) {
  std::optional<Value> at = topology.root();
  for (const std::string& key : split_pointer(pointer).value_or(std::vector<std::string>{})) {
    if (at) at = at->step(key);
  }
  return at;
}

constexpr const char* curves = "/condition/congestion/";
constexpr std::size_t most_parameters = 12;  // of non_negative_least_squares

struct CurvePoint {
  double flows = 0;
  double added = 0;  // 1 / left - 1
};

/// Of the curve at a pointer; empty where there is none. What is wrong with it is said where the topology is read.
std::vector<CurvePoint> curve_at(const Document& topology, const std::string& pointer) {
  std::vector<CurvePoint> points;
  const auto curve = value_at(topology, pointer);
  if (!curve || !curve->is_array()) return points;
  for (const Value& point : curve->elements()) {
    Section section(point);
    points.push_back(
        {static_cast<double>(section.required<int>("flows")), 1 / section.required<Fraction>("left").value - 1});
  }
  return points;
}

/// All points in the curve's own proportion; in that of their flows beyond one where the curve adds nothing yet.
void deepen(Document& topology, const std::string& pointer, double added) {
  const std::vector<CurvePoint> points = curve_at(topology, pointer);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const CurvePoint& most = points.back();
    const double share =
        most.added > 0 ? points[i].added / most.added : (points[i].flows - 1) / std::max(1.0, most.flows - 1);
    topology.set(fmt::format("{}/{}/left", pointer, i), fmt::format("\"{:.17g} %\"", 100 / (1 + added * share)));
  }
}

void add_curves(const Document& topology, std::vector<Parameter>& parameters) {
  const auto congestion = topology.find("/condition/congestion");
  if (!congestion) return;
  for (const auto& [pattern, curve] : congestion->members()) {
    if (!curve.is_array() || parameters.size() >= most_parameters) continue;
    parameters.push_back({"congestion at " + pattern, curves + pointer_token(pattern), ParameterKind::congestion});
  }
}

}  // namespace

ParameterKind kind_of(const std::string& pointer) {
  if (pointer.starts_with(curves)) return ParameterKind::congestion;
  if (pointer.ends_with("_spread") || pointer.ends_with("_jitter")) return ParameterKind::share;
  if (pointer.ends_with("rate")) return ParameterKind::time_per_byte;
  return pointer.ends_with("window") || pointer.ends_with("burst") ? ParameterKind::size : ParameterKind::time;
}

std::vector<Parameter> parameters_of(const Document& topology) {
  std::vector<Parameter> parameters;
  for (const Row& row : table) {
    const bool is_there = std::ranges::find(parameters, row.name, &Parameter::name) != parameters.end();
    const bool is_another = *row.but_not != '\0' && topology.find(row.but_not);
    if (topology.find(row.needs) && !is_another && !is_there) parameters.push_back({row.name, row.pointer, row.kind});
  }
  add_curves(topology, parameters);
  return parameters;
}

std::vector<Parameter> parameters_of(const Document& topology, std::span<const MeasuredTime> measurements) {
  std::vector<Parameter> parameters = parameters_of(topology);
  const Topology machine = read_topology(topology.root(), topology.source());
  const auto is_of_mpi = [&](const MeasuredTime& row) {
    const Library* library = library_of(row, machine);
    return library != nullptr && library->mpi != nullptr;
  };
  if (!machine.mpi || std::ranges::none_of(measurements, is_of_mpi)) return parameters;
  const std::string transport = "/transport/";
  for (const Parameter& each : std::vector(parameters)) {
    if (!each.pointer.starts_with(transport)) continue;
    const std::string of_mpi = transport + "mpi/" + each.pointer.substr(transport.size());
    parameters.push_back({"MPI's " + each.name, of_mpi, each.kind});
  }
  return parameters;
}

double value_in(const Document& topology, const Parameter& parameter) {
  if (parameter.kind == ParameterKind::congestion) {
    const auto points = curve_at(topology, parameter.pointer);
    return points.empty() ? 0 : points.back().added;
  }
  const auto value = value_at(topology, parameter.pointer);
  if (!value) return 0;
  if (parameter.kind == ParameterKind::time) return read<Seconds>(*value).si();
  if (parameter.kind == ParameterKind::size) return read<Bytes>(*value).si();
  if (parameter.kind == ParameterKind::share) return read<Fraction>(*value).value;
  return 1 / read<BytesPerSecond>(*value).si();
}

std::string typed(const Parameter& parameter, double value) {
  constexpr double least = 1e-15;  // seconds: what a search leaves of nothing
  if (parameter.kind == ParameterKind::time) return fmt::format("{:.17g} s", value < least ? 0 : value);
  if (parameter.kind == ParameterKind::size) return fmt::format("{:.0f} B", value);
  if (parameter.kind == ParameterKind::share) return fmt::format("{:.17g} %", 100 * value);
  return fmt::format("{:.17g} B/s", 1 / value);
}

Document with(const Document& topology, const Parameter& parameter, double value) {
  Document changed = topology;
  if (parameter.kind == ParameterKind::congestion) {
    deepen(changed, parameter.pointer, value);
    return changed;
  }
  const std::string parent = parameter.pointer.substr(0, parameter.pointer.rfind('/'));
  const std::string transport = "/transport";  // only that may be missing, which must have a name, or a part of it
  if (parent.starts_with(transport) && !value_at(topology, transport))
    changed.set(transport, R"({"name": "calibrated"})");
  const std::string mpi = "/transport/mpi";
  if (parent.starts_with(mpi) && !value_at(changed, mpi)) changed.set(mpi, "{}");
  if (!value_at(changed, parent)) changed.set(parent, "{}");
  if (parameter.kind == ParameterKind::time_per_byte && value <= 0) {
    changed.remove(parameter.pointer);
  } else {
    changed.set(parameter.pointer, fmt::format("\"{}\"", typed(parameter, value)));
  }
  return changed;
}

Document with(const Document& topology, std::span<const Parameter> parameters, std::span<const double> values) {
  Document changed = topology;
  for (std::size_t i = 0; i < parameters.size(); ++i) changed = with(changed, parameters[i], values[i]);
  return changed;
}

std::string shown(const Parameter& parameter, double value) {
  if (parameter.kind == ParameterKind::time) return format(Seconds(value));
  if (parameter.kind == ParameterKind::size) return format(Bytes(std::round(value)));
  if (parameter.kind == ParameterKind::share) return fmt::format("{:.3g} %", 100 * value);
  if (parameter.kind == ParameterKind::congestion) return fmt::format("{:.3g} % left", 100 / (1 + value));
  return value > 0 ? format(BytesPerSecond(1 / value)) : "none";
}

}}  // namespace farandole::calibration
