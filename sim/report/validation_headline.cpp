#include "report/validation_headline.hpp"

#include <algorithm>
#include <cmath>

#include "timeline/quantile.hpp"

namespace farandole { inline namespace report {
namespace {

using Rows = std::vector<const ValidationPoint*>;

constexpr double least_hard_error =
    0.1 - 1e-9;                        // by which linear scaling misses; 90 % is a tenth, however it is rounded
constexpr double worth_listing = 0.1;  // of rows that are not counted

bool is_training(const ValidationPoint& row) {
  return row.operation == "training";
}

double linear_seconds(const ValidationPoint& row) {
  return row.measured * (1 + *row.null_model);
}

/// The error with the constant of the others of its family; of a family of one row, without any.
double error_with_constant(const ValidationPoint& row, const Rows& rows) {
  std::vector<double> excess;
  for (const ValidationPoint* other : rows) {
    const bool counts = other != &row && other->family == row.family && other->null_model;
    if (counts) excess.push_back(other->measured - linear_seconds(*other));
  }
  return (linear_seconds(row) + median(excess)) / row.measured - 1;
}

Headline headline(const std::string& group, const Rows& rows, const Rows& neighbours) {
  std::vector<double> sizes;
  std::vector<double> errors;
  std::vector<double> linear;
  std::vector<double> constant;
  std::vector<double> widths;
  int inside = 0;
  for (const ValidationPoint* row : rows) {
    errors.push_back(row->error);
    sizes.push_back(std::abs(row->error));
    if (row->null_model) linear.push_back(std::abs(*row->null_model));
    if (row->null_model) constant.push_back(std::abs(error_with_constant(*row, neighbours)));
    if (row->band) widths.push_back((row->band->high - row->band->low) / row->predicted);
    inside += inside_band(*row) ? 1 : 0;
  }
  Headline result{group, static_cast<int>(rows.size()), median(sizes), quantile(sizes, 0.9), median(errors), {}, {}, {},
                  {}};
  if (!linear.empty()) result.linear = median(linear);
  if (!constant.empty()) result.plus_constant = median(constant);
  if (!widths.empty()) result.inside_band = static_cast<double>(inside) / static_cast<double>(widths.size());
  if (!widths.empty()) result.band_width = median(widths);
  return result;
}

}  // namespace

std::vector<Headline> headlines(std::span<const ValidationPoint> points) {
  Rows several;
  Rows one;
  for (const ValidationPoint& point : points) {
    if (point.counted && is_training(point)) (point.nodes > 1 ? several : one).push_back(&point);
  }
  Rows difficult = several;
  std::erase_if(difficult,
                [](const ValidationPoint* row) { return std::abs(row->null_model.value_or(0)) < least_hard_error; });
  std::vector<Headline> result;
  if (!difficult.empty()) result.push_back(headline("several nodes, hard rows", difficult, several));
  if (!several.empty()) result.push_back(headline("several nodes", several, several));
  if (!one.empty()) result.push_back(headline("one node", one, one));
  return result;
}

std::vector<const ValidationPoint*> uncounted_misses(std::span<const ValidationPoint> points) {
  Rows misses;
  for (const ValidationPoint& point : points) {
    if (!point.counted && is_training(point) && std::abs(point.error) >= worth_listing) misses.push_back(&point);
  }
  std::ranges::stable_sort(misses, {}, [](const ValidationPoint* row) { return -std::abs(row->error); });
  return misses;
}

}}  // namespace farandole::report
