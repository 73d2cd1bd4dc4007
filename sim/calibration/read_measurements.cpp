#include "calibration/read_measurements.hpp"

#include <array>

#include <fmt/format.h>

#include "calibration/readers/readers.hpp"
#include "config/text.hpp"

namespace farandole { inline namespace calibration {
namespace {

[[noreturn]] void refuse(const MeasuredTime& row, const char* expected, const char* option) {
  throw InputError(row.place, expected, "a row that does not say", std::string("; say it with ") + option);
}

void complete(MeasuredTime& row, const FieldDefaults& defaults) {
  if (row.operation.empty()) row.operation = defaults.operation;
  if (row.operation.empty()) refuse(row, "the operation", "--op");
  if (row.algorithm.empty()) row.algorithm = defaults.algorithm;
  if (row.ranks == 0) row.ranks = defaults.ranks.value_or(0);
  if (row.ranks == 0) refuse(row, "the number of ranks", "--ranks");
  if (!row.nodes) row.nodes = defaults.nodes;
  if (row.is_share) row.bytes *= row.ranks;
  row.is_share = false;
}

const MeasuredForm& form_of(const MeasuredText& file) {
  std::string known;
  for (const MeasuredForm& form : measured_forms()) {
    if (form.recognises(file.text)) return form;
    known += std::string(known.empty() ? "" : ", ") + form.name;
  }
  throw InputError({file.name, 1, ""}, "measurements in one of the forms " + known, "none of them");
}

}  // namespace

std::span<const MeasuredForm> measured_forms() {
  static constexpr std::array<MeasuredForm, 6> table{{
      {"nccl_tests_json", "what nccl-tests writes with -J", is_nccl_tests_json, read_nccl_tests_json},
      {"points", R"({"points": [...]}, as farandole bench --format json prints)", is_points_json, read_points_json},
      {"points_by_line", "a point per line, as a JSON object", is_points_by_line, read_points_by_line},
      {"imb", "the text of the Intel MPI benchmarks", is_imb, read_imb},
      {"osu", "the text of an OSU latency test", is_osu, read_osu},
      {"nccl_tests", "the text of nccl-tests", is_nccl_tests_text, read_nccl_tests_text},
  }};
  return table;
}

std::vector<MeasuredTime> read_measurements(const MeasuredText& file, const FieldDefaults& defaults) {
  const MeasuredForm& form = form_of(file);
  auto rows = form.read(file);
  if (rows.empty())
    throw InputError({file.name, 1, ""}, "at least one measurement",
                     std::string("a file of the form ") + form.name + " with none");
  for (MeasuredTime& row : rows) complete(row, defaults);
  return rows;
}

std::vector<MeasuredTime> read_measurements(const std::filesystem::path& file, const FieldDefaults& defaults) {
  const std::string text = read_text(file);
  return read_measurements(MeasuredText{file.string(), text}, defaults);
}

std::string row_name(const MeasuredTime& measurement) {
  std::string what =
      measurement.algorithm.empty() ? measurement.operation : measurement.operation + " " + measurement.algorithm;
  if (measurement.servers > 0) what += fmt::format(" {} servers", measurement.servers);
  return fmt::format("{}, {:.0f} bytes, {} ranks", what, measurement.bytes.si(), measurement.ranks);
}

}}  // namespace farandole::calibration
