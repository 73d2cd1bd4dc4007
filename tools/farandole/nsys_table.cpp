#include "nsys_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "config/error.hpp"

namespace farandole {
namespace {

constexpr std::string_view start_column = "Start (";
constexpr std::string_view duration_column = "Duration (";
constexpr double most_seconds = 1e11;
constexpr std::array<std::pair<std::string_view, double>, 8> nsys_units{
    {{"ns", 1e-9}, {"nsec", 1e-9}, {"us", 1e-6}, {"usec", 1e-6}, {"ms", 1e-3}, {"msec", 1e-3}, {"s", 1}, {"sec", 1}}};

/// RFC 4180, without line breaks within a field.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields{""};
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[i++];
    } else if (line[i] == '"') {
      is_quoted = !is_quoted;
    } else if (line[i] == ',' && !is_quoted) {
      fields.emplace_back();
    } else if (line[i] != '\r') {
      fields.back() += line[i];
    }
  }
  return fields;
}

class NsysTable {
 public:
  explicit NsysTable(std::string file) : file_(std::move(file)) {}

  void read_line(const std::string& line) {
    ++line_;
    if (columns_.empty()) {
      if (line.starts_with(start_column) || line.starts_with('"' + std::string(start_column))) read_header(line);
      return;
    }
    if (line.empty() || line == "\r") return;
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() != columns_.size())
      refuse(std::to_string(columns_.size()) + " columns", std::to_string(fields.size()));
    const std::string& name = fields[column("Name")];
    const double begin = time(fields[column(start_column)], column(start_column));
    const double duration = time(fields[column(duration_column)], column(duration_column));
    if (duration < 0) refuse("a duration that is not negative", fields[column(duration_column)]);
    const bool is_copy = name.starts_with("[CUDA mem");
    traces_[fields[column("Device")]].work.push_back({begin, begin + duration,
                                                      is_copy ? NamedWork{KernelClass::copy} : class_of_kernel(name),
                                                      is_copy, name, "stream " + fields[column("Strm")]});
  }

  std::vector<DeviceTrace> traces() {
    if (traces_.empty()) refuse("a row for each kernel and copy", "none");
    std::vector<DeviceTrace> result;
    for (auto& [device, trace] : traces_) {
      trace.kind = "nsys";
      trace.name = device;
      result.push_back(std::move(trace));
    }
    return result;
  }

 private:
  void read_header(const std::string& line) {
    columns_ = fields_of(line);
    for (const std::string_view needed : {start_column, duration_column, std::string_view("Device"),
                                          std::string_view("Strm"), std::string_view("Name")})
      static_cast<void>(column(needed));
  }

  /// By the beginning of its name.
  [[nodiscard]] std::size_t column(std::string_view name) const {
    const auto found = std::ranges::find_if(columns_, [&](const std::string& one) { return one.starts_with(name); });
    if (found == columns_.end()) refuse("a column " + quoted(name), "none");
    return static_cast<std::size_t>(found - columns_.begin());
  }

  [[nodiscard]] double time(const std::string& text, std::size_t column) const {
    const std::string& heading = columns_[column];
    const auto open = heading.find('(');
    const std::string unit = heading.substr(open + 1, heading.find(')') - open - 1);
    const auto known = std::ranges::find_if(nsys_units, [&](const auto& one) { return one.first == unit; });
    if (known == nsys_units.end()) refuse("times in ns, us, ms or s", unit);
    std::istringstream stream(text);
    double number = 0;
    if (!(stream >> number) || !stream.eof() || !(std::abs(number) * known->second <= most_seconds))
      refuse("a number", text);
    return number * known->second;
  }

  [[noreturn]] void refuse(const std::string& expected, const std::string& got) const {
    throw InputError(fmt::format("{}:{}: expected {}, got {}", file_, line_, expected, quoted(got)));
  }

  std::string file_;
  int line_ = 0;
  std::vector<std::string> columns_;
  std::map<std::string, DeviceTrace> traces_;
};

}  // namespace

bool is_nsys_table(const std::string& text) {
  const std::string header(start_column);
  return text.starts_with(header) || text.starts_with('"' + header) || text.find("\n" + header) != std::string::npos ||
         text.find("\n\"" + header) != std::string::npos;
}

std::vector<DeviceTrace> read_nsys_table(const std::string& text, const std::string& file) {
  NsysTable table(file);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) table.read_line(line);
  return table.traces();
}

}  // namespace farandole
