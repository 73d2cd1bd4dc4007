#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "calibration/posterior.hpp"
#include "config/section.hpp"
#include "timeline/quantile.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Json = nlohmann::ordered_json;

constexpr double least_share = 0.05;
constexpr std::size_t most_rows = 4;

Json recorded(const Unknown& unknown, const Marginal& marginal, const std::vector<TrainingRow>& rows) {
  const double reach = to_ninth_decile * unknown.width;
  Json result{{"name", unknown.parameter.name},
              {"pointer", unknown.parameter.pointer},
              {"value", shown(unknown.parameter, std::exp(marginal.middle))},
              {"between", between(unknown.parameter, marginal.low, marginal.high)},
              {"prior", between(unknown.parameter, unknown.centre - reach, unknown.centre + reach)}};
  if (marginal.identified == Identified::no) {
    result["not_identified"] = "the runs leave more than nine tenths of its prior's variance";
  } else {
    result["rows"] = informed_by(marginal, rows);
  }
  return result;
}

/// The calibration section as it is, or an empty one.
Json section_of(const Document& file, const CalibrationSource& provenance) {
  const auto there = file.find("/calibration");
  if (there) return file.to_ordered_json().at("calibration");
  return {{"comment", "Written by farandole calibrate; the values stand where the parameters' pointers say."},
          {"date", provenance.date},
          {"source", Json::array()},
          {"parameters", Json::array()}};
}

Json posterior_residuals(const Posterior& posterior) {
  std::vector<double> sizes;
  for (const double error : posterior.after) sizes.push_back(std::abs(std::expm1(error)));
  return {{"measurements", sizes.size()},
          {"median", percent_text(median(sizes))},
          {"worst", percent_text(quantile(sizes, 1))}};
}

/// One of a pointer takes the place of an earlier one.
void put_parameter(Json& parameters, const Json& parameter) {
  for (Json& other : parameters) {
    if (other.at("pointer") != parameter.at("pointer")) continue;
    other = parameter;
    return;
  }
  parameters.push_back(parameter);
}

}  // namespace

std::string informed_by(const Marginal& marginal, const std::vector<TrainingRow>& rows) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < marginal.shares.size(); ++i) {
    if (marginal.shares[i] >= least_share) order.push_back(i);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return marginal.shares[i]; });
  std::vector<std::string> named;
  for (const std::size_t i : order) {
    if (named.size() == most_rows) break;
    named.push_back(fmt::format("{} ({:.0f} %)", rows[i].name, 100 * marginal.shares[i]));
  }
  return fmt::format("{}", fmt::join(named, "; "));
}

Document calibrated_file(const Document& file, std::span<const Unknown> unknowns, const Posterior& posterior,
                         const std::vector<TrainingRow>& rows, const CalibrationSource& provenance) {
  Json note = section_of(file, provenance);
  Json of_scenarios = Json::array();
  Document result = file;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    const Unknown& unknown = unknowns[j];
    const Marginal& marginal = posterior.marginals[j];
    const bool is_elsewhere = is_of_scenario(unknown.parameter);
    put_parameter(is_elsewhere ? of_scenarios : note["parameters"], recorded(unknown, marginal, rows));
    if (!is_elsewhere && marginal.identified != Identified::no)
      result = with(result, unknown.parameter, std::exp(marginal.middle));
  }
  if (!of_scenarios.empty()) note["of_scenarios"] = of_scenarios;
  note["source"] = provenance.sources;
  note[note.contains("residuals") ? "residuals_of_runs" : "residuals"] = posterior_residuals(posterior);
  result.remove("/calibration");
  result.set("/calibration", note.dump());
  return result;
}

}}  // namespace farandole::calibration
