#include "platform/calibration_record.hpp"

#include "config/section.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Adds what the measurements settled to `fitted`.
void read_calibrated_parameter(const Value& where, std::vector<std::string>& fitted) {
  Section section(where);
  (void)section.required<std::string>("name");
  (void)section.required<std::string>("value");
  auto pointer = section.required<std::string>("pointer");
  const bool settled = !section.maybe_read<std::string>("not_identified");
  for (const char* note : {"standard_error", "between", "prior", "rows"}) (void)section.maybe_read<std::string>(note);
  section.finish();
  if (settled) fitted.push_back(std::move(pointer));
}

}  // namespace

CalibrationRecord read_calibration_record(const Value& where) {
  Section section(where);
  CalibrationRecord record;
  record.sources = section.required<std::vector<std::string>>("source");
  record.date = section.required<std::string>("date");
  record.forced = section.maybe_read<std::string>("forced").has_value();
  if (const auto residuals = section.maybe("residuals"))
    record.median = Section(*residuals).optional<std::string>("median", "");
  for (const Value& parameter : section.child("parameters").elements())
    read_calibrated_parameter(parameter, record.fitted);
  // Notes for readers, which nothing simulated depends on.
  for (const char* note : {"residuals_of_runs", "held_out", "bands", "repeats"}) {
    if (const auto object = section.maybe(note)) (void)object->members();
  }
  if (const auto scatter = section.maybe("scatter")) {
    for (const auto& [size, share] : scatter->members()) (void)read<Fraction>(share);
  }
  if (const auto scenarios = section.maybe("of_scenarios")) {
    for (const Value& scenario : scenarios->elements()) (void)scenario.members();
  }
  section.finish();
  return record;
}

}}  // namespace farandole::platform
