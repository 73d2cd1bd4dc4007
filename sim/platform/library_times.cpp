#include "platform/library_times.hpp"

#include "config/limits.hpp"
#include "platform/mpi_transport.hpp"
#include "platform/sections.hpp"

namespace farandole { inline namespace platform {
namespace {

std::string read_one_of(const Value& value, std::string_view what, const std::vector<std::string>& known) {
  auto name = read<std::string>(value);
  for (const std::string& candidate : known) {
    if (candidate == name) return name;
  }
  value.fail_unknown(what, known);
}

Operation read_operation(const Value& value) {
  const auto name = read<std::string>(value);
  const Operation* operation = find_operation(name);
  if (operation == nullptr) value.fail_unknown("an operation", operation_names());
  return *operation;
}

BytesPerSecond wire_of(const Value& rate) {
  const auto wire = read<BytesPerSecond>(rate);
  if (wire <= BytesPerSecond(0)) rate.fail("a rate above zero");
  return wire;
}

LibraryPiece read_piece(const Value& value) {
  Section section = sourced(value);
  LibraryPiece piece;
  piece.from = section.required<Bytes>("from");
  piece.algorithm = read_one_of(section.child("algorithm"), "an algorithm of NCCL",
                                {"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree"});
  piece.protocol = read_one_of(section.child("protocol"), "a protocol of NCCL", {"LL", "LL128", "Simple"});
  piece.latency = section.required<Seconds>("latency");
  piece.rate = wire_of(section.child("rate"));
  section.finish();
  return piece;
}

MeasuredLinks read_measured_links(const Value& value) {
  Section section = sourced(value);
  MeasuredLinks links;
  if (const auto nvlinks = section.maybe("nvlinks")) links.nvlinks = read_at_least(*nvlinks, 1);
  if (const auto nics = section.maybe("nics")) {
    links.nics = read_at_least(*nics, 1);
    links.nic = wire_of(section.child("nic"));
  }
  const auto pci = section.maybe("pci");
  if (pci) links.pci = wire_of(*pci);
  if (!pci && links.nvlinks == 0 && links.nics == 0) value.fail("\"nvlinks\", \"pci\" or \"nics\"");
  section.finish();
  return links;
}

LibraryTimes read_times(const Value& value) {
  Section section = sourced(value);
  LibraryTimes times;
  times.library = library_name(section.required<std::string>("library"));
  times.operation = read_operation(section.child("op"));
  times.ranks = read_at_least(section.child("ranks"), 2);
  const Value nodes = section.child("nodes");
  times.nodes = read_at_least(nodes, 1);
  if (const auto driven = section.maybe("devices_per_process"))
    times.devices_per_process = read_between(*driven, 1, times.ranks);
  times.table = section.optional<std::string>("table", "");
  if (const auto links = section.maybe("links")) times.links = read_measured_links(*links);
  if (times.nodes > times.ranks) nodes.fail("at most as many nodes as ranks");
  const Value pieces = section.child("pieces");
  for (const Value& element : pieces.elements()) {
    const LibraryPiece piece = read_piece(element);
    const bool is_first = times.pieces.empty();
    if (is_first && piece.from > Bytes(0)) element.fail("a first piece from 0 B on");
    if (!is_first && piece.from <= times.pieces.back().from) element.fail("pieces in order of size");
    times.pieces.push_back(piece);
  }
  if (times.pieces.empty()) pieces.fail("at least one piece");
  section.finish();
  return times;
}

}  // namespace

const LibraryPiece& LibraryTimes::piece_of(Bytes size) const {
  std::size_t found = 0;
  while (found + 1 < pieces.size() && pieces[found + 1].from <= size) ++found;
  return pieces[found];
}

std::vector<LibraryTimes> read_library_times(const Value& list) {
  std::vector<LibraryTimes> all;
  for (const Value& element : list.elements()) all.push_back(read_times(element));
  return all;
}

}}  // namespace farandole::platform
