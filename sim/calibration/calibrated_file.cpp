#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/fit.hpp"
#include "config/section.hpp"
#include "timeline/quantile.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Json = nlohmann::ordered_json;

const char* unit_of(ParameterKind kind) {
  if (kind == ParameterKind::time) return "s";
  if (kind == ParameterKind::share || kind == ParameterKind::congestion) return "of 1";
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

Json fit_residuals(const Fit& fit) {
  std::vector<double> sizes;
  for (const double error : fit.errors) sizes.push_back(std::abs(error));
  Json result{{"measurements", fit.errors.size()},
              {"median", percent_text(median(sizes))},
              {"worst", percent_text(*std::ranges::max_element(sizes))}};
  return result;
}

Json by_size(const std::vector<std::optional<ScatterOfSizes>>& sizes) {
  Json classes = Json::object();
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (!sizes[c]) continue;
    classes[size_classes()[c].name] = {{"deviation", percent_text(sizes[c]->deviation)},
                                       {"standard_error", percent_text(sizes[c]->standard_error)},
                                       {"settings", sizes[c]->settings}};
  }
  return classes;
}

Json repeats(const Scatter& scatter) {
  return {{"comment", "Standard deviation over the mean, of one setting that was measured again"},
          {"between_rows", by_size(scatter.between_rows)},
          {"of_repetitions", by_size(scatter.of_repetitions)}};
}

Json held_out(const HeldOutErrors& errors) {
  return {{"what", errors.what},
          {"median", percent_text(errors.median)},
          {"nine_of_ten_below", percent_text(errors.p90)},
          {"worst", percent_text(errors.worst)}};
}

}  // namespace

std::string percent_text(double fraction) {
  return fmt::format("{:.2f} %", 100 * fraction);
}

Document calibrated_file(const Fit& fit, const CalibrationSource& provenance) {
  Json parameters = Json::array();
  for (const FittedParameter& parameter : all_parameters(fit)) parameters.push_back(fitted(parameter));
  Json note{{"comment", "Written by farandole calibrate; the values stand where the parameters' pointers say."},
            {"date", provenance.date},
            {"source", provenance.sources},
            {"parameters", parameters},
            {"residuals", fit_residuals(fit)},
            {"bands", Json::parse(spread_text(fit.spread))}};
  if (fit.scatter.shows_anything()) note["repeats"] = repeats(fit.scatter);
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

}}  // namespace farandole::calibration
