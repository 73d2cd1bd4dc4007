#include "search_run.hpp"

#include <stdexcept>
#include <utility>

#include "report/reports.hpp"

namespace farandole {
namespace {

std::vector<TrainingPoint> run_all(const RunPlan& plan, const StudyOptions& study) {
  StudyResult result = run_study(plan, {plan.scenario, "", plan.points.size(), false, {}, "", {}}, study);
  if (!result.failures.empty()) {
    const StudyResult::Failure& first = result.failures.front();
    throw std::runtime_error("a point of the search failed: " + first.point + ": " + first.reason);
  }
  std::vector<TrainingPoint> points;
  for (auto& [index, point] : result.points) points.push_back(std::move(point));
  return points;
}

}  // namespace

RunPlan run_and_write_search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue,
                             const RunOptions& options, const StudyOptions& study, const OutputOptions& output) {
  SearchResult result =
      search(document, spec, catalogue, options, [&](const RunPlan& plan) { return run_all(plan, study); });
  const Heading heading{result.plan.scenario, result.plan.settings, result.answer, result.optimum, output.settings};
  output.write([&](std::ostream& out) { write_training(out, output.chosen_format(), heading, result.points); });
  return std::move(result.plan);
}

}  // namespace farandole
