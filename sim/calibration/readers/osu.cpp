#include <filesystem>
#include <optional>
#include <string>

#include "calibration/readers/readers.hpp"

namespace farandole::inline calibration {
namespace {

constexpr std::string_view mark = "# OSU MPI";

/// "# OSU MPI Allreduce Latency Test v5.8" is of an allreduce; "# OSU MPI Latency Test" of a ping-pong.
std::optional<std::string> operation_in(std::string_view title) {
  const auto begin = title.find(mark) + mark.size();
  const auto end = title.find("Latency Test");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view name = title.substr(begin, end - begin);
  if (name.find_first_not_of(' ') == std::string_view::npos) return pingpong;
  return operation_called(name);
}

}  // namespace

bool is_osu(std::string_view text) {
  return text.find(mark) != std::string_view::npos;
}

std::vector<MeasuredTime> read_osu(const MeasuredText& file) {
  std::vector<MeasuredTime> rows;
  std::string operation;
  for (const TextLine& line : lines_of(file.text)) {
    if (line.text.find(mark) != std::string_view::npos) {
      const auto found = operation_in(line.text);
      if (!found) refuse_line(file.name, line.number, "a latency test of an operation", quoted(line.text));
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
    rows.push_back(row);
  }
  return rows;
}

}  // namespace farandole::inline calibration
