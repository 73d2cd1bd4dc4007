#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "calibration/readers/readers.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view imb_mark = "# Benchmarking ";

/// What the table under way is of.
struct Table {
  std::string operation;  // empty: none that is known here
  int ranks = 0;
  std::optional<std::size_t> bytes;
  std::size_t time = 0;
};

/// The benchmarks' names; two of them mean something else elsewhere. PingPing is a message each way at the same time;
/// Sendrecv is that of two processes, and of more a round of a ring, which is no operation here; so is Exchange.
std::string operation_of(std::string_view name, int ranks) {
  if (name == "PingPing" || (name == "Sendrecv" && ranks == 2)) return exchange;
  if (name == "Exchange") return {};
  return operation_called(name).value_or("");
}

/// "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]", of a barrier without the bytes. A collective takes as
/// long as its slowest rank.
void read_columns(const TextLine& line, Table& table) {
  const auto column = [&](std::string_view name) {
    const auto found = std::ranges::find(line.words, name);
    return found == line.words.end() ? std::nullopt
                                     : std::optional(static_cast<std::size_t>(found - line.words.begin()));
  };
  table.bytes = column("#bytes");
  const auto slowest = column("t_max[usec]");
  const auto only = slowest ? slowest : column("t[usec]");
  if (only) table.time = *only;
}

/// A row that says why it was not measured: "out-of-mem.; needed X= ...", "time-out.; ...".
bool was_left_out(const TextLine& line) {
  return std::ranges::any_of(
      line.words, [](std::string_view word) { return word.starts_with("out-of-mem") || word.starts_with("time-out"); });
}

class ImbText {
 public:
  explicit ImbText(const MeasuredText& file) : file_(file.name) {
    for (const TextLine& line : lines_of(file.text)) read(line);
  }
  std::vector<MeasuredTime> rows;

 private:
  void read(const TextLine& line) {
    if (line.text.find("[usec]") != std::string_view::npos) {
      read_columns(line, table_);
    } else if (line.words.front().front() == '#') {
      read_heading(line);
    } else if (!table_.operation.empty() && table_.time > 0 && number_in(line.words.front()) && !was_left_out(line)) {
      add(line);
    }
  }

  void read_heading(const TextLine& line) {
    if (line.text.find(imb_mark) != std::string_view::npos) {
      table_ = {};
      name_ = line.words.back();
    }
    if (const auto ranks = number_after(line.text, "#processes =")) table_.ranks = *ranks;
    table_.operation = operation_of(name_, table_.ranks);
  }

  void add(const TextLine& line) {
    MeasuredTime row;
    row.place = {file_, line.number, ""};
    row.family = std::filesystem::path(file_).stem().string();
    row.operation = table_.operation;
    row.ranks = table_.ranks;
    if (table_.bytes) row.bytes = Bytes(size_at(file_, line, *table_.bytes));
    row.is_share = mpi_counts_shares(row.operation);
    const double microseconds = number_at(file_, line, table_.time, "a time in microseconds");
    // IMB prints 0.00 for what takes less than its clock sees; the empty messages of a collective do.
    if (microseconds <= 0) return;
    row.time = time_at(file_, line, table_.time);
    if (row.bytes == Bytes(0) && row.operation != "barrier") row.doubt = "no bytes";
    rows.push_back(std::move(row));
  }

  std::string file_;
  std::string name_;
  Table table_;
};

}  // namespace

bool is_imb(std::string_view text) {
  return text.find(imb_mark) != std::string_view::npos && text.find("#repetitions") != std::string_view::npos;
}

std::vector<MeasuredTime> read_imb(const MeasuredText& file) {
  return ImbText(file).rows;
}

}}  // namespace farandole::calibration
