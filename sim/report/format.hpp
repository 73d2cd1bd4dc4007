// The forms a result is printed in; what `--format` names.
//
// Called by the command line. `table` is for people (units, thousands separators, '#' comment lines), `json` and `csv`
// for programs: SI numbers without prefix, doubles with as many digits as it takes to read them back exactly. All
// three refuse numbers that are not finite (std::logic_error) and are byte-identical for the same input.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farandole { inline namespace report {

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
