#include "report/band_record.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/table.hpp"

namespace farandole {
namespace {

Record to_record(const Interval& interval, std::string_view key) {
  return {finite(interval.low, key), finite(interval.high, key)};
}

Interval interval_of(const Record& record) {
  return {record.at(0), record.at(1)};
}

void add(Record& record, const char* key, const std::optional<Interval>& interval) {
  if (interval) record[key] = to_record(*interval, key);
}

std::optional<Interval> maybe(const Record& record, const char* key) {
  return record.contains(key) ? std::optional(interval_of(record.at(key))) : std::nullopt;
}

Record end(const std::optional<double>& share) {
  return share ? Record(finite(*share, "break_even_utilisation")) : Record();
}

std::optional<double> end(const Record& share) {
  return share.is_null() ? std::nullopt : std::optional(share.get<double>());
}

/// A break-even that is never reached has no key; one that is not reached at every end, no high one.
Record to_record(const CostBands& cost) {
  Record record{{"per_sample", to_record(cost.per_sample, "per_sample")}};
  add(record, "per_run", cost.per_run);
  add(record, "per_sample_elsewhere", cost.per_sample_elsewhere);
  if (cost.break_even_low) record["break_even_utilisation"] = {end(cost.break_even_low), end(cost.break_even_high)};
  return record;
}

CostBands cost_bands(const Record& record) {
  CostBands cost{
      interval_of(record.at("per_sample")), maybe(record, "per_run"), maybe(record, "per_sample_elsewhere"), {}, {}};
  if (!record.contains("break_even_utilisation")) return cost;
  cost.break_even_low = end(record.at("break_even_utilisation").at(0));
  cost.break_even_high = end(record.at("break_even_utilisation").at(1));
  return cost;
}

}  // namespace

Record to_record(const Bands& bands) {
  Record record{{"probability", finite(bands.probability, "probability")},
                {"compute", to_record(bands.compute, "compute")},
                {"iteration_seconds", to_record(bands.iteration, "iteration_seconds")},
                {"samples_per_second", to_record(bands.samples_per_second, "samples_per_second")},
                {"scaling_efficiency", to_record(bands.scaling_efficiency, "scaling_efficiency")}};
  add(record, "run_seconds", bands.run);
  if (bands.cost) record["cost"] = to_record(*bands.cost);
  return record;
}

Bands bands_of(const Record& record) {
  Bands bands{record.at("probability"),
              interval_of(record.at("compute")),
              interval_of(record.at("iteration_seconds")),
              interval_of(record.at("samples_per_second")),
              interval_of(record.at("scaling_efficiency")),
              maybe(record, "run_seconds"),
              {}};
  if (record.contains("cost")) bands.cost = cost_bands(record.at("cost"));
  return bands;
}

void split_ends(Record& bands) {
  Record split = Record::object();
  for (auto& [key, value] : bands.items()) {
    if (value.is_object()) split_ends(value);
    if (!value.is_array()) {
      split[key] = value;
      continue;
    }
    split[key + "_low"] = value.at(0);
    split[key + "_high"] = value.at(1);
  }
  bands = std::move(split);
}

std::string band_text(const TrainingPoint& point, Interval Bands::*band, double per_unit, int decimals) {
  if (!point.bands) return "";
  const Interval& ends = (*point.bands).*band;
  return grouped(ends.low * per_unit, decimals) + " .. " + grouped(ends.high * per_unit, decimals);
}

bool have_bands(std::span<const TrainingPoint> points) {
  return std::ranges::any_of(points, [](const TrainingPoint& point) { return point.bands.has_value(); });
}

std::string band_probability(std::span<const TrainingPoint> points) {
  for (const TrainingPoint& point : points) {
    if (point.bands) return fmt::format("{:.0f} %", 100 * point.bands->probability);
  }
  return "";
}

}  // namespace farandole
