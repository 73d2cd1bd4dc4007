// Reads measured times from whatever file they are in.
//
// Known forms, told apart by their content, in the order of the table: our own JSON ({"points": [...]}), one such point
// per line, nccl-tests' JSON (-J) and text, OSU micro-benchmarks, Intel MPI benchmarks. A file of no known form, a
// number that is none, and a file without a single measurement are InputErrors with the line: never a silently empty
// list. Rows stay in the file's order.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/measured_time.hpp"

namespace farandole { inline namespace calibration {

/// A text and the name it goes by in messages.
struct MeasuredText {
  std::string name;
  std::string_view text;
};

struct MeasuredForm {
  const char* name;
  const char* summary;
  bool (*recognises)(std::string_view text);
  std::vector<MeasuredTime> (*read)(const MeasuredText& file);
};

/// The catalogue of forms.
std::span<const MeasuredForm> measured_forms();

/// All measurements of a text; `defaults` fills in what the text leaves out, and where nobody says it, it is an error.
std::vector<MeasuredTime> read_measurements(const MeasuredText& file, const FieldDefaults& defaults = {});
std::vector<MeasuredTime> read_measurements(const std::filesystem::path& file, const FieldDefaults& defaults = {});

}}  // namespace farandole::calibration
