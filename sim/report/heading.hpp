// Which run a result is of, and the settings that were in force.
//
// Filled by the command line, printed by every writer of this room: of a table its title is the first line and its
// settings are the last ones, all as '#' lines; in JSON they are the keys "scenario" and "settings", of a search also
// "answer" and "optimum", of a study with a question "question"; CSV has no place for them. Points that failed are said
// in all of them: under "failed" in JSON, as "# failed: " lines above a table, as rows of CSV that have a cell in the
// column "failed" and no other.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "timeline/result.hpp"

namespace farandole { inline namespace report {

struct Heading {
  std::string scenario;
  Settings settings;
  std::string answer{};              // of a search, in a sentence
  std::optional<Optimum> optimum{};  // of a search
  bool lists_all_settings = false;   // below a table; else those that a reader asks for
  /// What has no point in the result, and why.
  struct Failure {
    std::string point;
    std::string reason;
  };
  std::vector<Failure> failed{};
  std::optional<Question> question{};  // of a study; a table begins with what answers it
};

/// "# farandole VERSION, scenario NAME", and a search's answer.
void write_title(std::ostream& out, const Heading& heading);

/// One "#   name: value" for each setting that tells this run from another of the same scenario: which library and
/// calibration, the seed, what is degraded or was ignored. How many more there are is said; or all of them are listed.
void write_settings(std::ostream& out, const Heading& heading);

// The program's version, as CMake's project() states it. Every result carries it; the command line prints it.

/// "0.1.0".
std::string_view version();

// The forms a result is printed in; what `--format` names.
//
// Called by the command line. `table` is for people (units, thousands separators, '#' comment lines), `json` and `csv`
// for programs: SI numbers without prefix, doubles with as many digits as it takes to read them back exactly. All
// three refuse numbers that are not finite (std::logic_error) and are byte-identical for the same input.

enum class Format { table, json, csv };

/// "table", "json" or "csv"; nothing for any other name.
inline std::optional<Format> parse_format(std::string_view name) {
  if (name == "table") return Format::table;
  if (name == "json") return Format::json;
  if (name == "csv") return Format::csv;
  return std::nullopt;
}

/// The names `parse_format` knows, in order of declaration.
inline std::vector<std::string> format_names() {
  return {"table", "json", "csv"};
}

}}  // namespace farandole::report
