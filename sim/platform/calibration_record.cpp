#include "platform/calibration_record.hpp"

#include "config/section.hpp"

namespace farandole::inline platform {

CalibrationRecord read_calibration_record(const Value& where) {
  Section section(where);
  CalibrationRecord record;
  record.sources = section.optional<std::vector<std::string>>("source", {});
  record.date = section.optional<std::string>("date", "");
  record.forced = section.maybe("forced").has_value();
  if (const auto residuals = section.maybe("residuals"))
    record.median = Section(*residuals).optional<std::string>("median", "");
  if (const auto parameters = section.maybe("parameters")) {
    for (const Value& element : parameters->elements()) {
      Section parameter(element);
      if (!parameter.maybe("not_identified")) record.fitted.push_back(parameter.required<std::string>("pointer"));
    }
  }
  // Notes for readers, which nothing simulated depends on.
  for (const char* note : {"residuals_of_runs", "held_out", "bands", "repeats"}) {
    if (const auto object = section.maybe(note)) (void)object->members();
  }
  return record;
}

}  // namespace farandole::inline platform
