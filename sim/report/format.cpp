#include "report/format.hpp"

namespace farandole { inline namespace report {

std::optional<Format> parse_format(std::string_view name) {
  if (name == "table") return Format::table;
  if (name == "json") return Format::json;
  if (name == "csv") return Format::csv;
  return std::nullopt;
}

std::vector<std::string> format_names() {
  return {"table", "json", "csv"};
}

}}  // namespace farandole::report
