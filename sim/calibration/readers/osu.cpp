#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "calibration/readers/readers.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view osu_mark = "# OSU ";

/// "MPI", "MPI-CUDA", "MPI-ROCM", "NCCL", ...: what carried it out, and from whose memory.
bool is_backend(std::string_view word) {
  constexpr std::array backends{"MPI", "NCCL", "RCCL", "XCCL"};
  const std::string_view name = word.substr(0, word.find('-'));
  return std::ranges::find(backends, name) != backends.end();
}

bool is_title(const TextLine& line) {
  return line.words.size() > 2 && line.words[0] == "#" && line.words[1] == "OSU" && is_backend(line.words[2]);
}

/// "# OSU MPI Allreduce Latency Test v5.8" is of an allreduce; "# OSU MPI-CUDA Latency Test" of a ping-pong.
std::optional<std::string> operation_in(const TextLine& line) {
  std::string name;
  for (std::size_t word = 3; word < line.words.size(); ++word) {
    if (line.words[word] == "Latency")
      return name.empty() ? std::optional<std::string>(pingpong) : operation_called(name);
    name += line.words[word];
  }
  return std::nullopt;
}

}  // namespace

bool is_osu(std::string_view text) {
  const auto at = text.find(osu_mark);
  if (at == std::string_view::npos) return false;
  return is_backend(text.substr(at + osu_mark.size(), text.substr(at + osu_mark.size()).find_first_of(" \n")));
}

std::vector<MeasuredTime> read_osu(const MeasuredText& file) {
  std::vector<MeasuredTime> rows;
  std::string operation;
  for (const TextLine& line : lines_of(file.text)) {
    if (is_title(line)) {
      const auto found = operation_in(line);
      if (!found) {
        refuse_line(file.name, line.number,
                    "a latency test of an operation, one message or collective at a time (not a bandwidth, which has "
                    "many under way)",
                    quoted(line.text));
      }
      operation = *found;
    }
    if (operation.empty() || line.words.front().front() == '#' || !number_in(line.words.front())) continue;
    MeasuredTime row;
    row.place = {file.name, line.number, ""};
    row.family = std::filesystem::path(file.name).stem().string();
    row.operation = operation;
    const bool sizeless = operation == "barrier";
    row.bytes = sizeless ? Bytes(0) : Bytes(size_at(file.name, line, 0));
    row.time = time_at(file.name, line, sizeless ? 0 : 1);
    row.is_share = mpi_counts_shares(operation);
    if (operation == pingpong) row.ranks = 2;
    if (row.bytes == Bytes(0) && row.operation != "barrier") row.doubt = "no bytes";
    if (line.words.back() == "Fail") row.doubt = "wrong results";
    rows.push_back(row);
  }
  return rows;
}

}}  // namespace farandole::calibration
