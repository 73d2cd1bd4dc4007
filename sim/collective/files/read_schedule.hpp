// A user's own algorithm from a file: as a Schedule written in JSON, or as MSCCL's XML.
//
// Called by the command line wherever an algorithm may be named. Whatever the file says is proved before it is used
// (collective/proof.hpp): a schedule that does not compute its operation is refused, with the chunk and the rank that
// are wrong. Errors are InputError, with file and line.
#pragma once

#include <filesystem>
#include <string_view>

#include "collective/algorithms.hpp"
#include "collective/schedule.hpp"
#include "config/document.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace collective {

/// Whether the name of an algorithm is that of a file: it has a slash, or ends in .json or .xml.
bool is_algorithm_file(const std::string& name);

/// The file's algorithm, as a row of the catalogue would give it. It builds for its own number of ranks, for one rank,
/// which has nothing to send, and for no other (InputError).
Algorithm algorithm_from_file(const std::filesystem::path& file, const TextReader& text = read_text);

/// Reads a file ending in .xml as MSCCL's form, any other as JSON, and proves it.
Schedule read_schedule(const std::filesystem::path& file, const TextReader& text = read_text);

/// {"name", "op", "ranks", "chunks", "rows"?, "root"?, "weights"?, "copies"?, "servers"?, "first_worker"?,
/// "phases": [{"name", "repeats"?, "chunk_step"?, "row_step"?, "peer_step"?, "fan"?, "window"?, "one_by_one"?,
/// "bundle"?: [[row, column], ...],
/// "transfers": [{"from", "to", "chunk", "action": "copy", "reduce" or "relay", "count"?, "start"?}, ...]}, ...]}:
/// members as collective/schedule.hpp explains them. Not proved yet.
Schedule parse_schedule(const Value& where);

/// MSCCL's XML (files/msccl.cpp says which part of it). Not proved yet.
Schedule parse_msccl(std::string_view text, const std::string& source);

/// Throws InputError with `place` where the schedule is wrong, or too large to be proved.
void require_proof(const Schedule& schedule, const Place& place);

}}  // namespace farandole::collective
