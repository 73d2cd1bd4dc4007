#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "config/section.hpp"
#include "report/table.hpp"
#include "study/search_spec.hpp"
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
  return amount->plain();
}

double read_time(const Value& where) {
  return read<Seconds>(where).si();
}
double read_share(const Value& where) {
  return read<Fraction>(where).value;
}
double read_number(const Value& where) {
  return read<double>(where);
}

double read_bytes(const Value& where) {
  return read<Bytes>(where).si();
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
    Metric{"ranks", "ranks", [](const TrainingPoint& p) { return double(p.ranks); }, read_number, number_text},
    Metric{"nodes", "nodes", [](const TrainingPoint& p) { return double(p.nodes); }, read_number, number_text},
    Metric{"iteration_seconds", "the mean iteration", [](const TrainingPoint& p) { return p.iteration.si(); },
           read_time, time_text},
    Metric{"samples_per_second", "throughput", [](const TrainingPoint& p) { return p.samples_per_second; }, read_number,
           number_text},
    Metric{"tokens_per_second", "tokens a second",
           [](const TrainingPoint& p) { return p.utilisation.tokens_per_second; }, read_number, number_text},
    Metric{"sequence_length", "tokens of a sample",
           [](const TrainingPoint& p) { return double(p.utilisation.sequence_length); }, read_number, number_text},
    Metric{"memory_bytes", "memory of a device", [](const TrainingPoint& p) { return p.memory.total().si(); },
           read_bytes, bytes_text},
    Metric{"scaling_efficiency", "scaling efficiency", [](const TrainingPoint& p) { return p.scaling_efficiency; },
           read_share, share_text},
    Metric{"epoch_seconds", "an epoch", [](const TrainingPoint& p) { return run_of(p).epoch.si(); }, read_time,
           time_text},
    Metric{"run_seconds", "the whole run", [](const TrainingPoint& p) { return run_of(p).total.si(); }, read_time,
           time_text},
    Metric{"cost_per_run", "money, in the offer's currency",
           [](const TrainingPoint& p) { return of_a_run(cost_of(p).per_run); }, read_number, number_text},
    Metric{"cost_per_million_samples", "money, in the offer's currency",
           [](const TrainingPoint& p) { return cost_of(p).per_sample.plain() * 1e6; }, read_number, number_text},
    Metric{"joules_per_run", "energy", [](const TrainingPoint& p) { return of_a_run(cost_of(p).energy_per_run); },
           read_number, number_text},
};

}  // namespace

std::span<const Metric> metrics() {
  return table;
}

const Metric& find_metric(const std::string& name, const Value& where) {
  std::vector<std::string> known;
  for (const Metric& metric : table) {
    if (metric.name == name) return metric;
    known.push_back(metric.name);
  }
  where.fail_unknown("a number of a result", known);
}

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

}}  // namespace farandole::study
