#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/fit.hpp"
#include "config/section.hpp"
#include "timeline/quantile.hpp"

namespace farandole::inline calibration {
namespace {

using Json = nlohmann::ordered_json;

const char* unit_of(ParameterKind kind) {
  if (kind == ParameterKind::time) return "s";
  if (kind == ParameterKind::share) return "of 1";
  return kind == ParameterKind::size ? "B" : "s/B";
}

Json fitted(const FittedParameter& parameter) {
  Json result{{"name", parameter.parameter.name},
              {"pointer", parameter.parameter.pointer},
              {"value", shown(parameter.parameter, parameter.value)}};
  if (parameter.unidentified) {
    result["not_identified"] = *parameter.unidentified;
  } else {
    result["standard_error"] = fmt::format("{:.3g} {}", parameter.standard_error, unit_of(parameter.parameter.kind));
  }
  return result;
}

std::string percent(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

Json residuals(const Fit& fit) {
  std::vector<double> sizes;
  for (const double error : fit.errors) sizes.push_back(std::abs(error));
  Json result{{"measurements", fit.errors.size()},
              {"median", percent(median(sizes))},
              {"worst", percent(*std::ranges::max_element(sizes))}};
  return result;
}

Json held_out(const HeldOutErrors& errors) {
  return {{"what", errors.what},
          {"median", percent(errors.median)},
          {"nine_of_ten_below", percent(errors.p90)},
          {"worst", percent(errors.worst)}};
}

}  // namespace

Document calibrated_file(const Fit& fit, const Provenance& provenance) {
  Json parameters = Json::array();
  for (const FittedParameter& parameter : all_parameters(fit)) parameters.push_back(fitted(parameter));
  Json note{{"comment", "Written by farandole calibrate; the values stand where the parameters' pointers say."},
            {"date", provenance.date},
            {"source", provenance.sources},
            {"parameters", parameters},
            {"residuals", residuals(fit)},
            {"bands", Json::parse(spread_text(fit.spread))}};
  if (provenance.held_out) note["held_out"] = held_out(*provenance.held_out);
  if (provenance.forced) {
    note["forced"] = fmt::format("written by --force: the median error left is above {:.0f} %", 100 * most_error_left);
  }
  Document file = fit.topology;
  file.remove("/calibration");
  file.set("/calibration", note.dump());
  return file;
}

std::optional<Spread> spread_in(const Document& topology) {
  const auto bands = topology.find("/calibration/bands");
  return bands ? std::optional(read_spread(*bands)) : std::nullopt;
}

}  // namespace farandole::inline calibration
