#include <algorithm>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "calibration/published.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace calibration {
namespace {

/// What makes two scenarios points of one curve.
nlohmann::json curve_of(const Document& scenario) {
  nlohmann::json curve = scenario.to_json();
  for (const char* key : {"$schema", "name", "summary", "comment", "measure", "question", "sweep"}) curve.erase(key);
  if (curve.contains("platform")) curve["platform"].erase("ranks");
  return curve;
}

std::string topology_of(const Document& scenario) {
  const auto topology = scenario.find("/platform/topology");
  return topology && topology->is_string() ? read<std::string>(*topology) : std::string();
}

PublishedMark mark_of(const PublishedRow& row, const ValidationPoint& result, std::size_t point,
                      const Catalogue& catalogue) {
  const Scenario scenario = read_scenario(row.scenario.root(), catalogue);
  PublishedMark mark;
  mark.point = point;
  mark.ranks = result.ranks;
  mark.samples_per_second = static_cast<double>(scenario.samples_per_step()) / result.measured;
  mark.scaling_efficiency = 1 + result.null_model.value_or(0);  // the baseline is a step of one device
  mark.source = row.family;
  return mark;
}

/// The counted rows of all platforms as they were predicted when bands were learned from them
/// (tools/fit_model_error.py), which is what is said of a platform without published runs: not worth simulating them
/// all again for every page.
std::vector<ValidationPoint> recorded_rows(const Catalogue& catalogue) {
  const auto file = catalogue.root() / "topologies/errors/training_rows.json";
  std::vector<ValidationPoint> points;
  if (!std::filesystem::exists(file)) return points;
  const Document document = Document::read(file);
  for (const Value& row : Section(document.root()).child("rows").elements()) {
    Section section(row);
    ValidationPoint point = validation_point(Seconds(section.required<double>("predicted_seconds")),
                                             Seconds(section.required<double>("measured_seconds")), "");
    const auto family = section.required<std::string>("family");
    point.family = family.substr(0, family.find(" on "));
    point.row = section.required<std::string>("row");
    point.operation = "training";
    point.ranks = section.required<int>("ranks");
    point.nodes = section.required<int>("nodes");
    point.null_model = section.required<double>("linear_scaling_error");
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

PublishedBeside published_beside(const RunPlan& plan, const Catalogue& catalogue) {
  std::set<std::string> topologies;
  std::vector<nlohmann::json> curves;
  for (const RunPlan::Point& point : plan.points) {
    const Document document = document_of(point);
    topologies.insert(topology_of(document));
    curves.push_back(curve_of(document));
  }
  std::vector<PublishedRow> rows = published_rows(catalogue);
  const auto is_elsewhere = [&](const PublishedRow& row) { return !topologies.contains(topology_of(row.scenario)); };
  PublishedBeside beside;
  beside.of_this_platform = !std::ranges::all_of(rows, is_elsewhere);
  if (!beside.of_this_platform) {
    beside.points = recorded_rows(catalogue);
    return beside;
  }
  std::erase_if(rows, is_elsewhere);
  for (const PublishedRow& row : rows) {
    beside.points.push_back(validate(row, catalogue));
    const ValidationPoint& result = beside.points.back();
    const auto curve = std::ranges::find(curves, curve_of(row.scenario));
    if (curve == curves.end() || (!result.null_model && result.ranks > 1)) continue;
    beside.marks.push_back(mark_of(row, result, static_cast<std::size_t>(curve - curves.begin()), catalogue));
  }
  return beside;
}

}}  // namespace farandole::calibration
