#include <bit>
#include <cmath>
#include <filesystem>
#include <vector>

#include "calibration/readers/readers.hpp"
#include "calibration/scatter.hpp"
#include "collective/algorithms/exchanges.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr int most_repetitions = 1'000'000;

/// Which of two spellings of a key is there.
std::optional<Value> maybe_either(Section& section, std::string_view ours, std::string_view theirs) {
  if (const auto value = section.maybe(ours)) return value;
  return section.maybe(theirs);
}

/// Neither: the first is missing.
Value either(Section& section, std::string_view ours, std::string_view theirs) {
  const auto value = maybe_either(section, ours, theirs);
  return value ? *value : section.child(ours);
}

double positive_number(const Value& value, std::string_view what) {
  const auto number = read<double>(value);
  if (number <= 0) value.fail(what);
  if (!is_measurable(number)) value.fail(measurable_time);
  return number;
}

/// Of the list that `farandole bench` writes, or as the laboratory has it: how many there were, least and most.
std::optional<Repetitions> repetitions_of(Section& section, const MeasuredTime& row) {
  if (const auto list = section.maybe("repetitions"); list && list->is_array()) {
    const auto times =
        mapped(list->elements(), [](const Value& time) { return positive_number(time, "seconds above zero"); });
    if (times.size() < 2) return std::nullopt;
    return Repetitions{static_cast<int>(times.size()), relative_deviation(times)};
  }
  const auto count = section.maybe("reps");
  if (!count || !row.fastest || !row.slowest || *row.slowest < *row.fastest) return std::nullopt;
  const int repetitions = read_between(*count, 1, most_repetitions);
  if (repetitions < 2) return std::nullopt;
  return Repetitions{repetitions, deviation_of_range((*row.slowest - *row.fastest) / row.time, repetitions)};
}

std::optional<Seconds> maybe_seconds(Section& section, std::string_view key) {
  const auto value = section.maybe(key);
  return value ? std::optional(Seconds(positive_number(*value, "seconds above zero"))) : std::nullopt;
}

/// The laboratory has an operation per way of doing the same: its hand-written ring is an allreduce, its three
/// parameter servers are one operation.
struct LabRow {
  std::string_view op;
  const char* operation;
  const char* algorithm;  // empty: the row's own
};
constexpr LabRow lab_rows[] = {
    {"ring", "allreduce", "ring"},
    {"ps", "parameter_server", "dedicated"},
    {"ps_chunk", "parameter_server", "dedicated_keys"},
    {"ps_colocated", "parameter_server", "colocated"},
};
/// Its other algorithms are Open MPI's own, called as Open MPI calls them.
struct OpenMpiRow {
  std::string_view operation;
  std::string_view algo;
  const char* of_powers_of_two;
  const char* of_others;
};
constexpr OpenMpiRow open_mpi_rows[] = {
    {"allreduce", "rabenseifner", "doubling_halving", "doubling_halving_split"},
    {"broadcast", "binomial", "binomial_nearest_first", "binomial_nearest_first"},
};
constexpr double lab_segment = 65536;  // bytes of a segment of pipeline_64k

/// Rows of the laboratory's first form, which spells things its own way.
void translate(MeasuredTime& row, const std::string& op, const std::string& algorithm, int servers) {
  for (const LabRow& known : lab_rows) {
    if (known.op != op) continue;
    row.operation = known.operation;
    row.algorithm = known.algorithm;
    if (row.operation == "parameter_server") row.servers = op == "ps_colocated" ? row.ranks : servers;
    return;
  }
  if (algorithm == "pipeline_64k") {
    row.algorithm = "chain";
    row.segments = std::max(1, static_cast<int>(std::ceil(row.bytes.si() / lab_segment)));
  }
}

void name_as_open_mpi(MeasuredTime& row, const std::string& algorithm) {
  for (const OpenMpiRow& known : open_mpi_rows) {
    if (known.operation != row.operation || known.algo != algorithm) continue;
    row.algorithm = std::has_single_bit(static_cast<unsigned>(row.ranks)) ? known.of_powers_of_two : known.of_others;
  }
}

void read_operation(Section& section, MeasuredTime& row) {
  const Value operation = either(section, "op", "operation");
  const auto op = read<std::string>(operation);
  const auto algorithm_value = maybe_either(section, "algorithm", "algo");
  const auto algorithm = algorithm_value ? read<std::string>(*algorithm_value) : std::string();
  const auto known = operation_called(op);
  row.operation = known.value_or(op);
  row.algorithm = algorithm_called(row.operation, algorithm);
  const auto servers = maybe_either(section, "servers", "k");
  const int count = servers ? read_at_least(*servers, 0) : 0;
  if (row.operation == "parameter_server") row.servers = count;
  if (const auto segments = section.maybe("segments")) row.segments = read_between(*segments, 0, most_segments);
  translate(row, op, algorithm, count);
  if (section.maybe("algo")) name_as_open_mpi(row, algorithm);
  if (!known && row.operation == op) operation.fail("an operation");
  if (row.operation == pingpong || row.operation == exchange) row.algorithm.clear();
  if (row.operation == "barrier") row.algorithm = "dissemination";
}

/// "eager" or "rndv", as laboratories note it that run Open MPI both ways; other words are not about that.
std::optional<bool> sent_eagerly(Section& section) {
  const auto transport = section.maybe("transport");
  if (!transport || !transport->is_string()) return std::nullopt;
  const auto word = read<std::string>(*transport);
  if (word == "eager") return true;
  return word == "rndv" ? std::optional(false) : std::nullopt;
}

void read_doubts(Section& section, MeasuredTime& row) {
  for (const char* key : {"ok", "data_correct"}) {
    const auto correct = section.maybe(key);
    if (correct && !read<bool>(*correct)) correct->fail("true: only what computed the right result is a measurement");
  }
  const bool is_pair = row.operation == pingpong || row.operation == exchange;
  if (is_pair && row.nodes && *row.nodes < row.ranks) row.doubt = "between ranks of one host";
  if (row.bytes == Bytes(0) && row.operation != "barrier") row.doubt = "no bytes";
}

std::string family_of(const MeasuredText& file) {
  return std::filesystem::path(file.name).stem().string();
}

/// The lines as one array, each on its own line still, so that errors name it.
std::string as_array(std::string_view text) {
  std::string array = "[";
  bool first = true;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      if (!first) array += ',';
      array += line;
      first = false;
    }
    array += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return array + "]";
}

std::vector<MeasuredTime> points_of(const Value& list, const std::string& family) {
  return mapped(list.elements(), [&](const Value& element) { return read_point(element, family); });
}

char first_character(std::string_view text) {
  const auto at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

}  // namespace

Bytes read_size(const Value& value) {
  const auto number = read<double>(value);
  if (!(number >= 0 && number <= most_bytes) || number != std::floor(number))
    value.fail("a whole number of bytes up to 16 TiB");
  return Bytes(number);
}

MeasuredTime read_point(const Value& value, const std::string& family) {
  Section section(value);
  MeasuredTime row;
  row.place = value.place();
  row.family = family;
  if (const auto config = section.maybe("config")) row.family = read<std::string>(*config);
  row.ranks = read_at_least(either(section, "ranks", "nranks"), 1);
  if (const auto nodes = maybe_either(section, "nodes", "hosts")) row.nodes = read_at_least(*nodes, 1);
  if (const auto devices = section.maybe("devices_per_process"))
    row.devices_per_process = read_between(*devices, 1, row.ranks);
  row.bytes = read_size(section.child("bytes"));
  row.time = Seconds(positive_number(either(section, "seconds", "seconds_median"), "seconds above zero"));
  row.fastest = maybe_seconds(section, "min");
  row.slowest = maybe_seconds(section, "max");
  row.repetitions = repetitions_of(section, row);
  row.eager = sent_eagerly(section);
  read_operation(section, row);
  read_doubts(section, row);
  return row;
}

bool is_points_json(std::string_view text) {
  return first_character(text) == '{' && text.find("\"points\"") != std::string_view::npos;
}

std::vector<MeasuredTime> read_points_json(const MeasuredText& file) {
  const Document document = Document::parse(file.text, file.name);
  Section section(document.root());
  auto rows = points_of(section.child("points"), family_of(file));
  if (const auto library = section.maybe("library")) {
    const auto name = read<std::string>(*library);
    for (MeasuredTime& row : rows) {
      if (row.algorithm == "library") row.algorithm = name;
    }
  }
  return rows;
}

bool is_points_by_line(std::string_view text) {
  const bool is_object = first_character(text) == '{';
  return is_object &&
         (text.find("\"nranks\"") != std::string_view::npos || text.find("\"ranks\"") != std::string_view::npos);
}

std::vector<MeasuredTime> read_points_by_line(const MeasuredText& file) {
  const Document document = Document::parse(as_array(file.text), file.name);
  return points_of(document.root(), family_of(file));
}

}}  // namespace farandole::calibration
