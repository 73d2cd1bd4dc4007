#include "report/validation_ratios.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "timeline/quantile.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace report {
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
