#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/reports.hpp"
#include "report/table.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace report {
namespace {

std::string switches_of(const TuningSample& sample) {
  std::vector<std::string> on;
  if (sample.hierarchical_allreduce) on.emplace_back("hierarchical allreduce");
  if (sample.hierarchical_allgather) on.emplace_back("hierarchical allgather");
  if (sample.cache_enabled) on.emplace_back("cache");
  return fmt::format("{}", fmt::join(on, ", "));
}

}  // namespace

void write_tuning(std::ostream& out, std::span<const TrainingPoint> points) {
  if (std::ranges::none_of(points, [](const TrainingPoint& point) { return point.tuning.has_value(); })) return;
  out << "\nAutotuned\n";
  Table table({{"model", Align::left},
               {"ranks"},
               {"fusion threshold"},
               {"cycle (ms)"},
               {"switched on", Align::left},
               {"bytes/us"},
               {"tried"},
               {"steps"},
               {"seconds"}});
  for (const TrainingPoint& point : points) {
    if (!point.tuning) continue;
    const Tuning& tuning = *point.tuning;
    table.row({point.model, std::to_string(point.ranks), format(tuning.best.fusion_threshold),
               grouped(tuning.best.cycle_time.si() * milliseconds_per_second, 2), switches_of(tuning.best),
               grouped(tuning.best.score, 1), std::to_string(tuning.samples.size()), std::to_string(tuning.steps),
               grouped(tuning.seconds.si(), 1)});
  }
  table.write(out);
}

}}  // namespace farandole::report
