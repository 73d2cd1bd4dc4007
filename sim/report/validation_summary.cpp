#include "report/validation_summary.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "timeline/quantile.hpp"
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
  return std::to_string(place + 1) + ". " + size_classes[place].name;
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

namespace {

using Pairs = std::vector<const RatioPair*>;

const double least_change = std::log(1.05);  // that has a sign

/// A median of sizes of logarithms as the share that it is.
double median_share(const std::vector<double>& logs) {
  return std::expm1(median(logs));
}

bool is_right(const RatioPair& pair) {
  return (pair.predicted > 1) == (pair.measured > 1);
}

RatioSummary ratio_summary(const std::string& group, const Pairs& pairs) {
  RatioSummary summary{group, static_cast<int>(pairs.size())};
  std::vector<double> errors;
  std::vector<double> unchanged;
  std::vector<double> linear;
  std::set<std::string> files;
  for (const RatioPair* pair : pairs) {
    errors.push_back(std::abs(std::log(pair->predicted / pair->measured)));
    unchanged.push_back(std::abs(std::log(pair->measured * pair->devices)));
    if (pair->devices != 1) linear.push_back(std::abs(std::log(pair->measured)));
    const bool changes = std::abs(std::log(pair->measured)) > least_change;
    summary.changes += changes ? 1 : 0;
    summary.wrong_signs += changes && !is_right(*pair) ? 1 : 0;
    const bool is_inside = pair->said.band.low <= pair->measured && pair->measured <= pair->said.band.high;
    summary.inside_band += (is_inside ? 1.0 : 0.0) / static_cast<double>(pairs.size());
    for (const std::string& end : {pair->from, pair->to}) files.insert(end.substr(0, end.find(':')));
  }
  summary.files = static_cast<int>(files.size());
  summary.median = median_share(errors);
  summary.no_change = median_share(unchanged);
  if (!linear.empty()) summary.linear = median_share(linear);
  return summary;
}

std::vector<RatioSummary> by(const std::vector<RatioPair>& pairs, std::string RatioPair::*group) {
  std::map<std::string, Pairs> groups;
  for (const RatioPair& pair : pairs) groups[pair.*group].push_back(&pair);
  auto summaries = mapped(groups, [](const auto& each) { return ratio_summary(each.first, each.second); });
  std::ranges::stable_sort(summaries, {}, [](const RatioSummary& summary) { return -summary.pairs; });
  return summaries;
}

}  // namespace

std::vector<RatioSummary> by_kind(const std::vector<RatioPair>& pairs) {
  std::vector<RatioSummary> summaries = by(pairs, &RatioPair::kind);
  const Pairs all = mapped(pairs, [](const RatioPair& pair) { return &pair; });
  if (!all.empty()) summaries.insert(summaries.begin(), ratio_summary("all", all));
  return summaries;
}

std::vector<RatioSummary> by_strategy(const std::vector<RatioPair>& pairs) {
  return by(pairs, &RatioPair::strategy);
}

std::vector<SurenessClass> by_sureness(const std::vector<RatioPair>& pairs) {
  std::vector<SurenessClass> classes{{0.5, 0.6}, {0.6, 0.75}, {0.75, 0.9}, {0.9, 1}};
  for (const RatioPair& pair : pairs) {
    const auto own = std::ranges::find_if(classes, [&](const auto& one) { return pair.said.sure <= one.most; });
    ++own->pairs;
    own->right += is_right(pair) ? 1 : 0;
  }
  return classes;
}

}}  // namespace farandole::report
