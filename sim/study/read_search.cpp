#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "report/table.hpp"
#include "study/search.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace study {
namespace {

const WholeRun& run_of(const TrainingPoint& point) {
  if (!point.run) throw InputError("a goal over whole runs needs a \"run\" in the scenario");
  return *point.run;
}

const JobCost& cost_of(const TrainingPoint& point) {
  if (!point.cost) throw InputError("a goal over money or energy needs \"economics\" in the scenario");
  return *point.cost;
}

template <class T>
double of_a_run(const std::optional<T>& amount) {
  if (!amount) throw InputError("a goal over the cost of a run needs a \"run\" in the scenario");
  return amount->si();
}

template <class T>
double read_si(const Value& where) {
  return read<T>(where).si();
}
double read_share(const Value& where) {
  return read<Fraction>(where).value;
}
std::string bytes_text(double bytes) {
  return decimal(Bytes(bytes));
}
std::string time_text(double seconds) {
  if (seconds >= 3600) return fmt::format("{:.4g} h", seconds / 3600);
  if (seconds >= 60) return fmt::format("{:.4g} min", seconds / 60);
  return seconds >= 1 ? fmt::format("{:.4g} s", seconds) : fmt::format("{:.4g} ms", seconds * 1e3);
}
std::string share_text(double share) {
  return fmt::format("{:.4g} %", share * 100);
}
std::string number_text(double number) {
  return grouped(number, std::abs(number) < 100 && number != std::floor(number) ? 2 : 0);
}

const std::array table{
    Metric{"ranks", [](const TrainingPoint& p) { return double(p.ranks); }, read<double>, number_text},
    Metric{"nodes", [](const TrainingPoint& p) { return double(p.nodes); }, read<double>, number_text},
    Metric{"iteration_seconds", [](const TrainingPoint& p) { return p.iteration.si(); }, read_si<Seconds>, time_text},
    Metric{"samples_per_second", [](const TrainingPoint& p) { return p.samples_per_second; }, read<double>,
           number_text},
    Metric{"tokens_per_second", [](const TrainingPoint& p) { return p.utilisation.tokens_per_second; }, read<double>,
           number_text},
    Metric{"sequence_length", [](const TrainingPoint& p) { return double(p.utilisation.sequence_length); },
           read<double>, number_text},
    Metric{"memory_bytes", [](const TrainingPoint& p) { return p.memory.total().si(); }, read_si<Bytes>, bytes_text},
    Metric{"scaling_efficiency", [](const TrainingPoint& p) { return p.scaling_efficiency; }, read_share, share_text},
    Metric{"epoch_seconds", [](const TrainingPoint& p) { return run_of(p).epoch.si(); }, read_si<Seconds>, time_text},
    Metric{"run_seconds", [](const TrainingPoint& p) { return run_of(p).total.si(); }, read_si<Seconds>, time_text},
    Metric{"cost_per_run", [](const TrainingPoint& p) { return of_a_run(cost_of(p).per_run); }, read<double>,
           number_text},
    Metric{"cost_per_million_samples", [](const TrainingPoint& p) { return cost_of(p).per_sample.si() * 1e6; },
           read<double>, number_text},
    Metric{"joules_per_run", [](const TrainingPoint& p) { return of_a_run(cost_of(p).energy_per_run); }, read<double>,
           number_text},
};

/// Fails at `where`, which holds the name.
const Metric& find_metric(const std::string& name, const Value& where) {
  std::vector<std::string> known;
  for (const Metric& metric : table) {
    if (metric.name == name) return metric;
    known.push_back(metric.name);
  }
  where.fail_unknown("a number of a result", known);
}

Bound read_bound(const Metric& metric, const Value& where) {
  Section section(where);
  const auto most = section.maybe("at_most");
  const auto least = section.maybe("at_least");
  if (most.has_value() == least.has_value()) where.fail("either \"at_most\" or \"at_least\"");
  section.finish();
  return {&metric, metric.read(most ? *most : *least), most.has_value()};
}

Goal read_goal(Section& section) {
  Goal goal;
  const auto least = section.maybe("minimise");
  const auto most = section.maybe("maximise");
  if (least.has_value() == most.has_value()) section.value().fail("either \"minimise\" or \"maximise\"");
  const Value name = least ? *least : *most;
  goal.metric = &find_metric(read<std::string>(name), name);
  goal.is_least = least.has_value();
  if (const auto bounds = section.maybe("subject_to")) {
    for (const auto& [metric, bound] : listed_members(*bounds)) {
      goal.bounds.push_back(read_bound(find_metric(metric, bound), bound));
    }
  }
  return goal;
}

bool is_open(const Value& axis) {
  if (!axis.is_object()) return false;
  const auto has = [&](std::string_view key) { return axis.member(key).has_value(); };
  return has("from") && has("to") && !has("factor") && !has("step");
}

/// A number, and its unit if it has one.
std::pair<double, std::string> split(const Value& where) {
  if (!where.is_string()) return {read<double>(where), ""};
  const auto text = read<std::string>(where);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) where.fail("a number, or one with a unit");
  return {number, std::string(end, text.data() + text.size())};
}

OpenRange read_range_of(const std::string& pointer, const Value& where) {
  if (!pointer.starts_with('/')) where.fail("a JSON pointer such as \"/strategy/fusion_threshold\" as key");
  Section section(where);
  const Value from = section.child("from");
  const Value to = section.child("to");
  section.finish();
  const auto [low, unit] = split(from);
  const auto [high, same_unit] = split(to);
  if (unit != same_unit) to.fail(fmt::format("the unit of \"from\",{}", unit));
  if (!(low < high)) to.fail("more than \"from\"");
  const auto is_whole = [](const Value& value) { return std::holds_alternative<std::int64_t>(value.node().value); };
  return {pointer, low, high, unit, is_whole(from) && is_whole(to)};
}

std::vector<OpenRange> read_ranges(const Value& over) {
  std::vector<OpenRange> ranges;
  bool has_lists = false;
  for (const auto& [pointer, axis] : listed_members(over)) {
    if (is_open(axis)) {
      ranges.push_back(read_range_of(pointer, axis));
    } else {
      has_lists = true;
    }
  }
  if (has_lists && !ranges.empty()) over.fail("either lists, or ranges without \"factor\" and \"step\"", "both");
  if (!has_lists && ranges.empty()) over.fail("at least one pointer");
  return ranges;
}

bool is_known_beforehand(const Goal& goal) {
  return goal.is_least && (goal.metric->name == "ranks" || goal.metric->name == "nodes");
}

std::string read_method(const std::optional<Value>& where, const SearchSpec& spec) {
  const bool lists = spec.ranges.empty();
  if (!where) return lists ? (is_known_beforehand(spec.goal) ? "first" : "grid") : "golden_section";
  std::vector<std::string> known =
      lists ? std::vector<std::string>{"grid"} : std::vector<std::string>{"golden_section", "global"};
  if (lists && is_known_beforehand(spec.goal)) known.emplace_back("first");
  const std::string method = read_named(*where, lists ? "a method for lists" : "a method for open ranges", known);
  if (method == "global" && !why_no_global_search().empty()) {
    where->fail("golden_section, as this program is without NLopt (Debian: libnlopt0; to build with it, libnlopt-dev)",
                quoted(method), "; " + why_no_global_search());
  }
  return method;
}

}  // namespace

double Bound::violation(const TrainingPoint& point) const {
  const double beyond = is_upper ? metric->of(point) - limit : limit - metric->of(point);
  return std::max(0.0, beyond / std::max(std::abs(limit), 1e-300));
}

std::string Bound::text() const {
  return fmt::format("{} {} {}", metric->name, is_upper ? "at most" : "at least", metric->text(limit));
}

double Goal::loss(const TrainingPoint& point) const {
  return is_least ? metric->of(point) : -metric->of(point);
}

double Goal::violation(const TrainingPoint& point) const {
  double sum = 0;
  for (const Bound& bound : bounds) sum += bound.violation(point);
  return sum;
}

bool Goal::is_better(const TrainingPoint& a, const TrainingPoint& b) const {
  return std::tuple(violation(a), loss(a)) < std::tuple(violation(b), loss(b));
}

std::string OpenRange::at(double share) const {
  const double number = from > 0 ? from * std::pow(to / from, share) : from + (to - from) * share;
  return is_whole ? fmt::format("{}", std::llround(number)) : fmt::format("{:.4g}{}", number, unit);
}

std::optional<SearchSpec> read_search(const Document& document) {
  const auto where = document.find("/optimise");
  if (!where) return std::nullopt;
  if (const auto sweep = document.find("/sweep")) where->fail("no \"sweep\" beside it: \"over\" says where to look");
  Section section(*where);
  SearchSpec spec;
  spec.goal = read_goal(section);
  spec.ranges = read_ranges(section.child("over"));
  spec.method = read_method(section.maybe("method"), spec);
  constexpr int most_evaluations = 100'000;
  if (const auto count = section.maybe("evaluations")) {
    if (spec.ranges.empty()) count->fail("no number of evaluations: lists are searched whole");
    spec.evaluations = read_between(*count, 4, most_evaluations);
  }
  section.finish();
  return spec;
}

}}  // namespace farandole::study
