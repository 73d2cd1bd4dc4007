#include "calibration/library_fit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "units/format.hpp"

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
  Json pieces = Json::array();
  for (const FittedPiece& piece : fit.pieces) pieces.push_back(piece_json(piece));
  Json entry{{"library", fit.library}, {"op", fit.operation}, {"ranks", fit.ranks}, {"nodes", fit.nodes}};
  if (fit.devices_per_process > 1) entry["devices_per_process"] = fit.devices_per_process;
  entry["links"] = links_json(fit.links);
  entry["pieces"] = pieces;
  return entry;
}

Key key_of(const Json& entry) {
  return {entry.at("library"), entry.at("op"), entry.at("ranks"), entry.at("nodes"),
          entry.value("devices_per_process", 1)};
}

Key key_of(const LibraryFit& fit) {
  return {fit.library, fit.operation, fit.ranks, fit.nodes, fit.devices_per_process};
}

int nodes_of(const MeasuredTime& row, const Topology& topology) {
  return row.nodes.value_or((row.ranks + topology.devices_per_node - 1) / topology.devices_per_node);
}

/// Of measurements of one library, operation and place.
LibraryFit fit_of(std::vector<MeasuredTime> rows, const Topology& topology) {
  std::ranges::sort(rows, {}, &MeasuredTime::bytes);
  std::vector<TimedSize> samples;
  samples.reserve(rows.size());
  for (const MeasuredTime& row : rows) {
    const Seconds taken = row.time - launching(row);
    samples.push_back({row.bytes, std::max(taken, row.time / 10)});
  }
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
  std::vector<LibraryFit> fits;
  for (const auto& [key, rows] : tables) fits.push_back(fit_of(rows, machine));
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
  const auto rarer = [](const auto& one, const auto& other) { return one.second < other.second; };
  const std::string& name = std::ranges::max_element(times, rarer)->first;
  if (!topology.find("/transport")) topology.set("/transport", R"({"name": "calibrated"})");
  topology.set("/transport/library", name);
}

}}  // namespace farandole::calibration
