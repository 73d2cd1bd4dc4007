#include <filesystem>

#include "calibration/readers/readers.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace calibration {
namespace {

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
  std::vector<MeasuredTime> rows;
  for (const Value& element : list.elements()) rows.push_back(read_point(element, family));
  return rows;
}

char first_character(std::string_view text) {
  const auto at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

}  // namespace

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
