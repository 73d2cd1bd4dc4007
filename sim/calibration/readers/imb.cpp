#include <filesystem>
#include <optional>
#include <string>

#include "calibration/readers/readers.hpp"

namespace farandole::inline calibration {
namespace {

constexpr std::string_view mark = "# Benchmarking ";
constexpr std::size_t slowest_of_three = 3;  // bytes repetitions t_min T_MAX t_avg
constexpr std::size_t only_time = 2;         // bytes repetitions T Mbytes/sec

/// What the table under way is of.
struct Table {
  std::string operation;  // empty: none that is known here
  int ranks = 0;
  std::size_t time = slowest_of_three;
};

void read_heading(const TextLine& line, Table& table) {
  if (const auto at = line.text.find(mark); at != std::string_view::npos) {
    table = {};
    table.operation = operation_called(line.words.back()).value_or("");
  }
  if (const auto ranks = number_after(line.text, "#processes =")) table.ranks = *ranks;
  if (line.text.find("#bytes") != std::string_view::npos)
    table.time = line.text.find("t_max") == std::string_view::npos ? only_time : slowest_of_three;
}

}  // namespace

bool is_imb(std::string_view text) {
  return text.find(mark) != std::string_view::npos && text.find("#repetitions") != std::string_view::npos;
}

std::vector<MeasuredTime> read_imb(const MeasuredText& file) {
  std::vector<MeasuredTime> rows;
  Table table;
  for (const TextLine& line : lines_of(file.text)) {
    if (line.words.front().front() == '#') {
      read_heading(line, table);
      continue;
    }
    if (table.operation.empty() || !number_in(line.words.front())) continue;
    MeasuredTime row;
    row.place = {file.name, line.number, ""};
    row.family = std::filesystem::path(file.name).stem().string();
    row.operation = table.operation;
    row.ranks = table.ranks;
    row.bytes = Bytes(size_at(file.name, line, 0));
    row.is_share = mpi_counts_shares(row.operation);
    const double microseconds = number_at(file.name, line, table.time, "a time in microseconds");
    // IMB prints 0.00 for what takes less than its clock sees; the empty messages of a collective do.
    if (microseconds <= 0) continue;
    row.time = time_at(file.name, line, table.time);
    if (row.bytes == Bytes(0) && row.operation != "barrier") row.doubt = "no bytes";
    rows.push_back(row);
  }
  return rows;
}

}  // namespace farandole::inline calibration
