#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "calibration/readers/readers.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view rate_heading = "algbw";
constexpr std::size_t fewest_before_time = 3;  // size count type, redop and root in newer versions
constexpr std::size_t most_before_time = 5;
constexpr std::size_t errors_after_time = 3;  // time algbw busbw #wrong

/// What the lines above a table say of its run.
struct Run {
  std::string operation;
  std::set<int> ranks;
  std::set<std::string> hosts;
  int devices_per_process = 1;
  int iterations = 0;
  bool has_rows = false;
};

/// What a table's heading says of its columns, counted from the time out of place to the end of a row: before it, older
/// versions leave out columns that have nothing in them.
struct Columns {
  std::size_t from_time = 8;  // two sides of time, algbw, busbw and #wrong
  std::size_t side = 4;
  std::optional<std::size_t> variation;  // "i_cv%" of newer versions: of single iterations, in percent, after the time
  double unit = 1e-6;                    // versions of before 2018 have milliseconds, and do not say so
};

/// "#  Rank  0 Group  0 Pid   6899 on ztan-mig-235z device  0 [0000:04:00] NVIDIA H100": the word after "on".
std::string host_of(const TextLine& line) {
  const auto on = std::ranges::find(line.words, std::string_view("on"));
  return on == line.words.end() || on + 1 == line.words.end() ? std::string() : std::string(*(on + 1));
}

bool is_rank_line(const TextLine& line) {
  return line.words.size() > 2 && line.words[0] == "#" && line.words[1] == "Rank" && number_in(line.words[2]);
}

void read_rank(const std::string& file, const TextLine& line, Run& run) {
  const int rank = number_after(line.text, "Rank").value_or(0);
  if (!run.ranks.insert(rank).second) {
    refuse_line(file, line.number,
                "every rank once above a table (programs that were built without MPI=1 do not know of each other)",
                quoted(line.text));
  }
  run.hosts.insert(host_of(line));
}

/// "# nThread 1 nGpus 8 minBytes 8 ... warmup iters: 5 iters: 20 ...": how many devices a thread drove, how often.
void read_options(const std::string& file, const TextLine& line, Run& run) {
  constexpr std::string_view label = "nGpus";
  if (std::ranges::find(line.words, label) == line.words.end()) return;
  const auto devices = number_after(line.text, label);
  if (devices.value_or(0) < 1)
    refuse_line(file, line.number, "a whole number of devices after nGpus", quoted(line.text));
  run.devices_per_process = *devices;
  constexpr std::string_view warmup = "warmup iters:";
  if (const auto at = line.text.find(warmup); at != std::string_view::npos)
    run.iterations = number_after(line.text.substr(at + warmup.size()), "iters:").value_or(0);
}

/// "# Collective test starting: all_reduce_perf" of newer versions, or a command that was echoed: the program.
std::optional<std::string_view> program_in(const TextLine& line) {
  constexpr std::string_view ending = "_perf";
  for (const std::string_view word : line.words) {
    const auto slash = word.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? word : word.substr(slash + 1);
    if (name.ends_with(ending) && name.size() > ending.size()) return name.substr(0, name.size() - ending.size());
  }
  return std::nullopt;
}

void read_program(const std::string& file, const TextLine& line, std::string_view program, Run& run) {
  const auto known = program == "sendrecv" ? std::optional<std::string>(exchange) : operation_called(program);
  if (known) run.operation = *known;
  if (!known && line.text.find("starting:") != std::string_view::npos)
    refuse_line(file, line.number, "a program of a collective that is known here",
                quoted(std::string(program) + "_perf"));
}

bool is_heading(const TextLine& line) {
  return line.words.front().starts_with('#') && std::ranges::find(line.words, rate_heading) != line.words.end();
}

Columns nccl_columns(const std::string& file, const TextLine& line) {
  constexpr std::string_view time = "time";
  const auto first = std::ranges::find(line.words, time);
  if (first == line.words.end())
    refuse_line(file, line.number, "a column \"time\" (-C 1 prints the processor's time instead)", quoted(line.text));
  Columns columns;
  columns.from_time = static_cast<std::size_t>(line.words.end() - first);
  columns.side = static_cast<std::size_t>(std::find(first + 1, line.words.end(), time) - first);
  const auto variation = std::ranges::find(line.words, std::string_view("i_cv%"));
  if (variation != line.words.end()) columns.variation = static_cast<std::size_t>(variation - first);
  if (line.words.back() == "timestamp") ++columns.from_time;  // a day and a time of day
  if (std::ranges::find(line.words, std::string_view("bytes")) != line.words.end()) columns.unit = 1e-3;
  return columns;
}

/// NCCL's own messages go to the same place and may begin in the middle of a row: "... -1node7:811:840 [0] NCCL INFO".
/// What stands before is kept, with the word that the message's first is printed next to.
bool cut_message(TextLine& line) {
  const auto nccl = std::ranges::find(line.words, std::string_view("NCCL"));
  if (nccl == line.words.end()) return false;
  auto end = line.words.begin();
  while (end != nccl && std::ranges::count(*end, ':') < 2) ++end;
  if (end != nccl && number_in(end->substr(0, 1))) ++end;
  if (end != nccl && end->starts_with('-')) ++end;
  line.words.erase(end, line.words.end());
  return true;
}

MeasuredTime row_of(const std::string& file, const TextLine& line, std::size_t time, const Columns& columns,
                    const Run& run) {
  MeasuredTime row;
  row.place = {file, line.number, ""};
  row.family = std::filesystem::path(file).stem().string();
  row.bytes = Bytes(size_at(file, line, 0));
  row.time = time_at(file, line, time, columns.unit);
  row.operation = run.operation;
  row.ranks = static_cast<int>(run.ranks.size());
  row.devices_per_process = run.devices_per_process;
  if (!run.hosts.empty()) row.nodes = static_cast<int>(run.hosts.size());
  if (columns.variation && run.iterations > 1)
    row.repetitions = {run.iterations, number_at(file, line, time + *columns.variation, "a share in percent") / 100};
  const auto wrong = number_in(line.words[std::min(time + errors_after_time, line.words.size() - 1)]);
  // What of versions before 2018 is the largest difference and not a number of elements is far below one.
  if (wrong.value_or(0) >= 1) row.doubt = "wrong results";
  if (row.bytes == Bytes(0)) row.doubt = "no bytes";
  if (row.operation == exchange && row.ranks != 2)
    refuse_line(file, line.number, "sendrecv_perf between 2 ranks", fmt::format("{} ranks", row.ranks));
  return row;
}

class NcclTestsText {
 public:
  explicit NcclTestsText(const MeasuredText& file) : file_(file.name) {
    for (TextLine& line : lines_of(file.text)) {
      const bool is_cut = cut_message(line);
      if (!line.words.empty()) read(line, is_cut);
    }
    if (begun_) refuse_end(*begun_);
  }
  std::vector<MeasuredTime> rows;

 private:
  void read(const TextLine& line, bool is_cut) {
    if (is_heading(line)) {
      columns_ = nccl_columns(file_, line);
    } else if (line.words.front().starts_with('#') || program_in(line)) {
      read_about(line);
    } else if (columns_ && number_in(line.words.front())) {
      read_row(line, is_cut);
    }
  }

  /// The first line above another table begins what is said of it.
  Run& next_run() {
    if (run_.has_rows) run_ = {};
    return run_;
  }
  void read_about(const TextLine& line) {
    if (line.text.find("Out of bounds") != std::string_view::npos) columns_.reset();  // the table ends
    if (line.text.find("concluded:") != std::string_view::npos) return;
    if (const auto program = program_in(line)) read_program(file_, line, *program, next_run());
    if (is_rank_line(line)) read_rank(file_, line, next_run());
    if (line.text.find("nGpus") != std::string_view::npos) read_options(file_, line, next_run());
  }

  /// A row is printed in three parts, as it is measured; what NCCL says meanwhile may stand between them.
  void read_row(const TextLine& line, bool is_cut) {
    const std::size_t words = line.words.size();
    const auto is_before = [](std::size_t count) { return count >= fewest_before_time && count <= most_before_time; };
    if (begun_) {
      if (words != columns_->from_time && words != columns_->side) refuse_end(*begun_);
      TextLine whole = *begun_;
      const std::size_t time = whole.words.size();
      whole.words.insert(whole.words.end(), line.words.begin(), line.words.end());
      begun_.reset();
      in_place_is_to_come_ = words == columns_->side;
      add(whole, time);
    } else if (in_place_is_to_come_ && words == columns_->from_time - columns_->side) {
      in_place_is_to_come_ = false;
    } else if (words > columns_->from_time && is_before(words - columns_->from_time)) {
      add(line, words - columns_->from_time);
    } else if (is_cut && words > columns_->side && is_before(words - columns_->side)) {
      in_place_is_to_come_ = true;
      add(line, words - columns_->side);
    } else if (is_before(words)) {
      begun_ = line;
    } else {
      refuse_end(line);
    }
  }
  void add(const TextLine& line, std::size_t time) {
    rows.push_back(row_of(file_, line, time, *columns_, run_));
    run_.has_rows = true;
  }
  [[noreturn]] void refuse_end(const TextLine& line) const {
    refuse_line(file_, line.number, "a row as the heading has it, with a time", quoted(line.text));
  }

  std::string file_;
  Run run_;
  std::optional<Columns> columns_;
  std::optional<TextLine> begun_;
  bool in_place_is_to_come_ = false;
};

constexpr int most_nccl_ranks = 1 << 20;

/// What all rows of a file have in common.
using Header = MeasuredTime;

void take_program(Header& header, std::string name) {
  name.erase(0, name.rfind('/') + 1);
  constexpr std::string_view ending = "_perf";
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  if (name == "sendrecv") header.operation = exchange;
  if (const auto known = operation_called(name)) header.operation = *known;
}

/// Each process lists the first of its devices: all ranks are those of the distance between two of them.
void take_devices(Header& header, const Value& list, std::int64_t devices_per_process) {
  std::set<std::string> hosts;
  std::vector<int> ranks;
  for (const Value& device : list.elements()) {
    Section section(device);
    if (const auto rank = section.maybe("rank")) ranks.push_back(read_between(*rank, 0, most_nccl_ranks));
    if (const auto host = section.maybe("hostname")) hosts.insert(read<std::string>(*host));
  }
  const auto listed = static_cast<std::int64_t>(list.elements().size());
  const std::int64_t of_a_process = ranks.size() > 1 && ranks[1] > ranks[0] ? ranks[1] - ranks[0] : devices_per_process;
  if (listed * of_a_process > most_nccl_ranks) list.fail("at most 1,048,576 ranks");
  header.ranks = static_cast<int>(listed * of_a_process);
  if (!hosts.empty()) header.nodes = static_cast<int>(hosts.size());
}

void take_config(Header& header, const Value& config) {
  Section section(config);
  for (const char* ranks : {"nranks", "n_ranks", "ranks", "total_ranks"}) {
    if (const auto value = section.maybe(ranks)) header.ranks = read_at_least(*value, 1);
  }
  const auto devices = section.maybe("ngpus");
  if (devices) header.devices_per_process = read_between(*devices, 1, most_nccl_ranks);
  const auto threads = section.maybe("nthreads");
  const std::int64_t of_a_process =
      std::int64_t{threads ? read_between(*threads, 1, most_nccl_ranks) : 1} * header.devices_per_process;
  if (const auto list = section.maybe("devices"); list && header.ranks == 0) take_devices(header, *list, of_a_process);
}

/// Versions differ in where they keep these, and in whether they do.
Header read_header(const Value& root) {
  Header header;
  Section section(root);
  if (const auto arguments = section.maybe("args"); arguments && arguments->is_array()) {
    const auto words = arguments->elements();
    if (!words.empty() && words.front().is_string()) take_program(header, read<std::string>(words.front()));
  }
  for (const char* key : {"collective_test", "test", "collective", "name", "program"}) {
    const auto value = section.maybe(key);
    if (value && value->is_string()) take_program(header, read<std::string>(*value));
  }
  for (const char* key : {"config", "configuration"}) {
    if (const auto config = section.maybe(key)) take_config(header, *config);
  }
  if (const auto devices = section.maybe("devices"); devices && header.ranks == 0)
    header.ranks = static_cast<int>(devices->elements().size());
  return header;
}

/// Of versions that time every iteration (-I).
std::optional<Repetitions> repetitions_in(Section& row) {
  const auto each = row.maybe("out_of_place_per_iter");
  if (!each || !each->is_object()) return std::nullopt;
  Section section(*each);
  const auto times = section.maybe("times_us");
  const auto variation = section.maybe("cv_pct");
  if (!times || !variation || times->elements().size() < 2) return std::nullopt;
  const auto percent = read<double>(*variation);
  if (!(percent >= 0)) variation->fail("a share in percent");
  return Repetitions{static_cast<int>(times->elements().size()), percent / 100};
}

MeasuredTime read_nccl_row(const Value& value, const Header& header, const std::string& family) {
  Section section(value);
  MeasuredTime row = header;
  row.place = value.place();
  row.family = family;
  row.bytes = read_size(section.child("size"));
  Section side(section.child("out_of_place"));
  const Value time = side.child("time");
  const auto microseconds = read<double>(time);
  if (microseconds <= 0) time.fail("microseconds above zero");
  row.time = Seconds(microseconds * 1e-6);
  if (!is_measurable(row.time / Seconds(1))) time.fail(measurable_time);
  row.repetitions = repetitions_in(section);
  const auto wrong = side.maybe("nwrong");
  if (wrong && wrong->describe() != "null" && read<double>(*wrong) >= 1) row.doubt = "wrong results";
  if (row.bytes == Bytes(0)) row.doubt = "no bytes";
  if (row.operation == exchange && row.ranks != 2) value.fail("sendrecv_perf between 2 ranks");
  return row;
}

}  // namespace

bool is_nccl_tests_text(std::string_view text) {
  return text.find(rate_heading) != std::string_view::npos && text.find("busbw") != std::string_view::npos &&
         text.find('#') != std::string_view::npos;
}

std::vector<MeasuredTime> read_nccl_tests_text(const MeasuredText& file) {
  return NcclTestsText(file).rows;
}

bool is_nccl_tests_json(std::string_view text) {
  return text.find("\"out_of_place\"") != std::string_view::npos;
}

std::vector<MeasuredTime> read_nccl_tests_json(const MeasuredText& file) {
  const Document document = Document::parse(file.text, file.name);
  const Header header = read_header(document.root());
  Section section(document.root());
  return mapped(section.child("results").elements(), [&](const Value& value) {
    return read_nccl_row(value, header, std::filesystem::path(file.name).stem().string());
  });
}

}}  // namespace farandole::calibration
