#include "calibration/published_bands.hpp"

#include <cmath>

#include "calibration/spread.hpp"
#include "simulate/library/nccl_measured.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::size_t enough_tables = 3;

/// Rows of a class that count, together as much as any other table's.
Errors log_errors_of(const JudgedTable& table, std::size_t size_class) {
  Errors errors;
  for (const ValidationPoint& point : table.points) {
    if (point.counted && size_class_of(point.bytes) == size_class)
      errors.emplace_back(std::log(point.measured / point.predicted), 1);
  }
  for (auto& [error, weight] : errors) weight /= static_cast<double>(errors.size());
  return errors;
}

bool spans_nodes(const JudgedTable& table) {
  return !table.points.empty() && table.points.front().nodes > 1;
}

/// By the other tables, inside a node or over several as this one; those alone of which as much was known if `alike`.
Errors errors_beside(const std::vector<JudgedTable>& tables, const JudgedTable& table, std::size_t size_class,
                     bool alike) {
  Errors all;
  std::size_t found = 0;
  for (const JudgedTable& other : tables) {
    if (&other == &table || spans_nodes(other) != spans_nodes(table) ||
        (alike && other.measured_besides != table.measured_besides))
      continue;
    const Errors errors = log_errors_of(other, size_class);
    found += errors.empty() ? 0 : 1;
    all.insert(all.end(), errors.begin(), errors.end());
  }
  return found >= enough_tables ? all : Errors{};
}

}  // namespace

bool is_measured_besides(const MeasuredTime& row, const std::string& library, const Topology& topology) {
  const Operation* operation = find_operation(row.operation);
  if (operation == nullptr || *operation == Operation::alltoall) return false;
  const MeasuredRun run{library, *operation, row.ranks, row.nodes.value_or(1), row.devices_per_process};
  return !times_for(topology.transport.library_times, run).empty();
}

void add_bands(std::vector<JudgedTable>& tables) {
  for (JudgedTable& table : tables) {
    for (std::size_t size_class = 0; size_class < size_classes.size(); ++size_class) {
      auto band = band_of_errors(errors_beside(tables, table, size_class, true));
      if (!band) band = band_of_errors(errors_beside(tables, table, size_class, false));
      for (ValidationPoint& point : table.points) {
        if (band && point.counted && size_class_of(point.bytes) == size_class)
          point.band = Band{point.predicted * band->least, point.predicted * band->most};
      }
    }
  }
}

}}  // namespace farandole::calibration
