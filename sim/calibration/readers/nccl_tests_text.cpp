#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "calibration/readers/readers.hpp"

namespace farandole::inline calibration {
namespace {

constexpr std::string_view size_heading = "algbw";
constexpr std::size_t first_time = 5;      // size count type redop root TIME algbw busbw #wrong ...
constexpr std::size_t short_row = 7;       // older versions leave redop and root out where there are none
constexpr std::size_t numbers_a_side = 4;  // time algbw busbw #wrong, out of place and in place

/// "#  Rank  0 Group  0 Pid   6899 on ztan-mig-235z device  0 [0000:04:00] NVIDIA H100": the word after "on".
std::string host_of(const TextLine& line) {
  const auto on = std::ranges::find(line.words, std::string_view("on"));
  return on == line.words.end() || on + 1 == line.words.end() ? std::string() : std::string(*(on + 1));
}

bool is_rank_line(const TextLine& line) {
  return line.words.size() > 2 && line.words[0] == "#" && line.words[1] == "Rank" && number_in(line.words[2]);
}

/// "# nThread 1 nGpus 8 minBytes 8 ...": how many devices a thread drove; 0 on other lines.
int devices_per_thread(const std::string& file, const TextLine& line) {
  constexpr std::string_view label = "nGpus";
  if (std::ranges::find(line.words, label) == line.words.end()) return 0;
  const auto devices = number_after(line.text, label);
  if (devices.value_or(0) < 1)
    refuse_line(file, line.number, "a whole number of devices after nGpus", quoted(line.text));
  return *devices;
}

/// "# Collective test starting: all_reduce_perf", which newer versions print.
std::string operation_in(const TextLine& line) {
  for (const std::string_view word : line.words) {
    if (!word.ends_with("_perf")) continue;
    const auto slash = word.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? word : word.substr(slash + 1);
    if (const auto known = operation_called(name.substr(0, name.size() - std::string_view("_perf").size())))
      return *known;
  }
  return {};
}

std::size_t time_column(const TextLine& line) {
  // From the right both kinds of row are alike: two sides of four numbers each.
  if (line.words.size() >= first_time + 2 * numbers_a_side) return first_time;
  return line.words.size() >= short_row ? line.words.size() - 2 * numbers_a_side : first_time;
}

bool is_row(const TextLine& line) {
  return line.text.find_first_not_of(" \t") != std::string_view::npos && line.words.front().front() != '#' &&
         number_in(line.words.front()).has_value();
}

}  // namespace

bool is_nccl_tests_text(std::string_view text) {
  return text.find(size_heading) != std::string_view::npos && text.find("busbw") != std::string_view::npos &&
         text.find('#') != std::string_view::npos;
}

std::vector<MeasuredTime> read_nccl_tests_text(const MeasuredText& file) {
  std::vector<MeasuredTime> rows;
  std::set<std::string> hosts;
  int ranks = 0;
  int devices_per_process = 1;
  std::string operation;
  for (const TextLine& line : lines_of(file.text)) {
    if (is_rank_line(line)) {
      ++ranks;
      hosts.insert(host_of(line));
    }
    if (const int devices = devices_per_thread(file.name, line); devices > 0) devices_per_process = devices;
    if (const std::string found = operation_in(line); !found.empty()) operation = found;
    if (!is_row(line)) continue;
    MeasuredTime row;
    row.place = {file.name, line.number, ""};
    row.family = std::filesystem::path(file.name).stem().string();
    row.bytes = Bytes(size_at(file.name, line, 0));
    row.time = time_at(file.name, line, time_column(line));
    if (row.bytes == Bytes(0)) row.doubt = "no bytes";
    rows.push_back(row);
  }
  for (MeasuredTime& row : rows) {
    row.operation = operation;
    row.ranks = ranks;
    row.devices_per_process = devices_per_process;
    if (!hosts.empty()) row.nodes = static_cast<int>(hosts.size());
  }
  return rows;
}

}  // namespace farandole::inline calibration
