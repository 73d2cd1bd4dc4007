#include "calibration/library_fit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/library_choice.hpp"
#include "units/format.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr const char* where_they_stand = "/transport/library_times";

using Json = nlohmann::ordered_json;
using Key = std::tuple<std::string, std::string, int, int, int>;  // library, operation, ranks, nodes, devices a process

/// Exactly as it was fitted, so that the file predicts what the fit did.
std::string exact(double value, const char* unit) {
  return fmt::format("{:.17g} {}", value, unit);
}

Json piece_json(const FittedPiece& piece) {
  return {{"from", fmt::format("{:.0f} B", piece.from.si())},
          {"algorithm", piece.way.algorithm},
          {"protocol", piece.way.protocol},
          {"latency", exact(piece.latency.value, "s")},
          {"rate", exact(1 / piece.time_per_byte.value, "B/s")}};
}

Json links_json(const MeasuredLinks& links) {
  Json json = Json::object();
  if (links.nvlinks > 0) json["nvlinks"] = links.nvlinks;
  if (links.pci > BytesPerSecond(0) && links.pci < BytesPerSecond::infinity())
    json["pci"] = exact(links.pci.si(), "B/s");
  if (links.nics > 0) json["nics"] = links.nics;
  if (links.nics > 0) json["nic"] = exact(links.nic.si(), "B/s");
  return json;
}

Json library_json(const LibraryFit& fit) {
  Json entry{{"library", fit.library}, {"op", fit.operation}, {"ranks", fit.ranks}, {"nodes", fit.nodes}};
  if (fit.devices_per_process > 1) entry["devices_per_process"] = fit.devices_per_process;
  entry["links"] = links_json(fit.links);
  entry["pieces"] = mapped(fit.pieces, piece_json);
  return entry;
}

Key key_of(const Json& entry) {
  return {entry.at("library"), entry.at("op"), entry.at("ranks"), entry.at("nodes"),
          entry.value("devices_per_process", 1)};
}

Key key_of(const LibraryFit& fit) {
  return {fit.library, fit.operation, fit.ranks, fit.nodes, fit.devices_per_process};
}

/// Of measurements of one library, operation and place.
LibraryFit fit_of(std::vector<MeasuredTime> rows, const Topology& topology) {
  std::ranges::sort(rows, {}, &MeasuredTime::bytes);
  const auto samples = mapped(rows, [](const MeasuredTime& row) {
    return TimedSize{row.bytes, std::max(row.time - launching(row.devices_per_process), row.time / 10)};
  });
  const MeasuredTime& first = rows.front();
  const Library* library = library_of(first, topology);
  const MeasuredPlace place = place_of(first.ranks, first.nodes.value_or(0), first.place, topology);
  const LibraryJob job = library_job(first, topology, *library, place);
  return {library->name,
          first.operation,
          first.ranks,
          nodes_of(first, topology),
          first.devices_per_process,
          library->links(job),
          fit_pieces(samples, library->ways(job)),
          {}};
}

/// What the file has of others stays, and stays first.
void write_into(Document& topology, std::vector<LibraryFit>& fits) {
  const Json whole = topology.to_ordered_json();
  const Json::json_pointer pointer(where_they_stand);
  Json entries = Json::array();
  if (whole.contains(pointer)) {
    for (const Json& entry : whole.at(pointer)) {
      const auto replaced = [&](const LibraryFit& fit) { return key_of(fit) == key_of(entry); };
      if (std::ranges::none_of(fits, replaced)) entries.push_back(entry);
    }
  }
  for (LibraryFit& fit : fits) {
    fit.pointer = fmt::format("{}/{}", where_they_stand, entries.size());
    entries.push_back(library_json(fit));
  }
  if (!topology.find("/transport")) topology.set("/transport", R"({"name": "calibrated"})");
  topology.set(where_they_stand, entries.dump());
}

}  // namespace

std::string piece_name(const LibraryFit& fit, std::size_t index) {
  const FittedPiece& piece = fit.pieces[index];
  const std::string driven =
      fit.devices_per_process > 1 ? fmt::format(", {} devices a process", fit.devices_per_process) : "";
  return fmt::format("{} by {}, {} ranks on {} node{}{}, {} to {} ({} {})", fit.operation, fit.library, fit.ranks,
                     fit.nodes, fit.nodes == 1 ? "" : "s", driven, format(piece.least), format(piece.most),
                     piece.way.algorithm, piece.way.protocol);
}

bool is_piecewise(const MeasuredTime& row, const Topology& topology) {
  const Library* library = library_of(row, topology);
  return library != nullptr && library->ways;
}

std::vector<LibraryFit> fit_libraries(Document& topology, std::span<const MeasuredTime> measurements) {
  const Topology machine = read_topology(topology.root(), topology.source());
  std::map<Key, std::vector<MeasuredTime>> tables;
  for (const MeasuredTime& row : measurements) {
    tables[{library_of(row, machine)->name, row.operation, row.ranks, nodes_of(row, machine), row.devices_per_process}]
        .push_back(row);
  }
  auto fits = mapped(tables, [&](const auto& table) { return fit_of(table.second, machine); });
  if (!fits.empty()) write_into(topology, fits);
  return fits;
}

void adopt_library(Document& topology, std::span<const MeasuredTime> measurements) {
  const Topology machine = read_topology(topology.root(), topology.source());
  std::map<std::string, int> times;
  for (const MeasuredTime& row : measurements) {
    if (const Library* library = library_of(row, machine)) ++times[library->name];
  }
  if (times.empty() || times.contains(machine.transport.library)) return;
  const auto how_often = [](const auto& counted) { return counted.second; };
  if (!topology.find("/transport")) topology.set("/transport", R"({"name": "calibrated"})");
  topology.set("/transport/library", std::ranges::max_element(times, {}, how_often)->first);
}

namespace {

constexpr const char* of_the_transport = "library";

/// Hosts of one device that hold several ranks all the same, joined by a memory that costs next to nothing.
Topology with_room_for(int ranks, const Topology& topology) {
  Topology hosts = topology;
  if (topology.devices_per_node > 1 || ranks == 1) return hosts;
  hosts.devices_per_node = ranks;
  if (!hosts.pcie) hosts.pcie.emplace().link.wire = BytesPerSecond(1e12);
  return hosts;
}

/// Tables of nccl-tests, OSU and IMB do not say what carried out a collective: the machine's own library did.
const Library* own_library(const MeasuredTime& row, const Topology& topology) {
  const Library* library = find_library(topology.transport.library);
  const Operation* operation = find_operation(row.operation);
  if (library == nullptr || operation == nullptr) return nullptr;
  return std::ranges::find(library->operations, *operation) == library->operations.end() ? nullptr : library;
}

}  // namespace

const Library* library_of(const MeasuredTime& row, const Topology& topology) {
  if (row.algorithm.empty()) return own_library(row, topology);
  if (row.algorithm != of_the_transport) return find_library(row.algorithm);
  if (topology.transport.library.empty()) {
    throw InputError(row.place, "the name of a library, as the topology's transport has none",
                     quoted(of_the_transport));
  }
  return find_library(topology.transport.library);
}

/// Far above any machine, and few enough to be predicted again and again by a fit.
constexpr int most_ranks_of_a_measurement = 32'768;
constexpr int most_ranks_of_a_node = 1'024;

int nodes_of(const MeasuredTime& row, const Topology& topology) {
  return row.nodes.value_or((row.ranks + topology.devices_per_node - 1) / topology.devices_per_node);
}

MeasuredPlace place_of(int ranks, int nodes, const Place& place, const Topology& topology) {
  const Node node{static_cast<std::int64_t>(ranks), place.line, std::make_shared<const std::string>(place.source)};
  const Value blamed(node, place.pointer);
  require_at_most(ranks, most_ranks_of_a_measurement, "ranks in a measurement", blamed);
  require_at_most(nodes, most_ranks_of_a_measurement, "nodes in a measurement", blamed);
  const int share = nodes == 0 ? topology.devices_per_node : (ranks + nodes - 1) / nodes;
  require_at_most(share, most_ranks_of_a_node, "ranks on a node in a measurement", blamed);
  const Topology hosts = with_room_for(share, topology);
  const Placement placement = place_by_slot(ranks, hosts_for(ranks, share), hosts.devices_per_node, blamed);
  return {build_for(hosts, placement, blamed), placement, share};
}

LibraryJob library_job(const MeasuredTime& row, const Topology& topology, const Library& library,
                       const MeasuredPlace& place) {
  const Node node{std::int64_t{row.ranks}, row.place.line, std::make_shared<const std::string>(row.place.source)};
  const Value blamed(node, row.place.pointer);
  const Operation* operation = find_operation(row.operation);
  if (operation == nullptr) {
    throw InputError(row.place, "an operation", quoted(row.operation), suggestion(row.operation, operation_names()));
  }
  const Device device = Catalogue().device(topology.device, blamed);
  const Algorithm named{*operation, library.name, library.summary, {}};
  const LibraryUse use = use_library(named, topology.transport, device, blamed);
  LibraryJob job{place.platform, place.placement, *operation, 0, use.device};
  job.devices_per_process = row.devices_per_process;
  return job;
}

}}  // namespace farandole::calibration
