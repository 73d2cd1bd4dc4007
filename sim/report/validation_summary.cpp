#include "report/validation_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "timeline/quantile.hpp"
#include "timeline/validation.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace report {
namespace {

using Rows = std::vector<const ValidationPoint*>;

ErrorSummary summary(const std::string& group, const Rows& rows) {
  const auto errors = mapped(rows, [](const ValidationPoint* row) { return row->error; });
  const auto sizes = mapped(errors, [](double error) { return std::abs(error); });
  std::vector<double> null_sizes;
  int banded = 0;
  int inside = 0;
  for (const ValidationPoint* row : rows) {
    if (row->null_model) null_sizes.push_back(std::abs(*row->null_model));
    banded += row->band ? 1 : 0;
    inside += inside_band(*row) ? 1 : 0;
  }
  ErrorSummary result{group,
                      static_cast<int>(rows.size()),
                      quantile(sizes, 0.5),
                      quantile(sizes, 0.9),
                      quantile(sizes, 1.0),
                      median(errors),
                      {},
                      {}};
  if (banded > 0) result.inside_band = static_cast<double>(inside) / banded;
  if (!null_sizes.empty()) result.null_median = quantile(null_sizes, 0.5);
  return result;
}

/// Numbered, so that the groups are in order of size.
std::string size_class(const ValidationPoint& row) {
  const std::size_t place = size_class_of(row.bytes);
  return std::to_string(place + 1) + ". " + size_classes()[place].name;
}

void add_groups(const Rows& rows, const std::function<std::string(const ValidationPoint&)>& key,
                std::vector<ErrorSummary>& summaries) {
  std::map<std::string, Rows> groups;
  for (const ValidationPoint* row : rows) groups[key(*row)].push_back(row);
  if (groups.size() < 2) return;
  for (const auto& [name, members] : groups) summaries.push_back(summary(name, members));
}

}  // namespace

std::vector<ErrorSummary> summarise(std::span<const ValidationPoint> points) {
  Rows counted;
  for (const ValidationPoint& point : points) {
    if (point.counted) counted.push_back(&point);
  }
  std::vector<ErrorSummary> summaries{summary("all", counted)};
  add_groups(
      counted, [](const ValidationPoint& row) { return "family " + row.family; }, summaries);
  const auto kind = [](const ValidationPoint& row) {
    return row.operation != "training" ? row.operation
           : row.nodes > 1             ? "training on several nodes"
                                       : "training on one node";
  };
  add_groups(counted, kind, summaries);
  const Rows trained = those_of(counted, [](const ValidationPoint* row) { return row->reach && row->ranks > 1; });
  add_groups(
      trained, [](const ValidationPoint& row) { return "strategy " + row.reach->program; }, summaries);
  std::erase_if(counted, [](const ValidationPoint* row) { return row->bytes == Bytes(0); });
  add_groups(counted, size_class, summaries);
  return summaries;
}

}}  // namespace farandole::report
