#include "run_page.hpp"

#include <algorithm>
#include <iostream>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "calibration/published.hpp"
#include "command.hpp"
#include "graphviz.hpp"
#include "load_options.hpp"
#include "report/answer.hpp"
#include "report/pages.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/train.hpp"
#include "study/study.hpp"

namespace farandole {
namespace {

constexpr std::size_t timeline_capacity = 100'000;  // spans
constexpr std::size_t links_on_a_page = 10;

void say(const RunPageRequest& request, const std::string& text) {
  if (!request.quiet && isatty(STDERR_FILENO) != 0) std::cerr << text << "\n";
}

/// The places in the plan of the points that there are.
std::vector<std::size_t> places_of(const RunPageRequest& request) {
  std::vector<std::size_t> places;
  for (const auto& [place, point] : request.points) places.push_back(place);
  return places;
}

/// The points at `headlines` with their explanation. Throws where one fails: a page without would look like a whole
/// one.
void explain(const RunPageRequest& request, const std::vector<std::size_t>& places,
             const std::vector<std::size_t>& headlines, std::vector<TrainingPoint>& points) {
  RunPlan plan;
  plan.scenario = request.plan.scenario;
  std::vector<std::size_t> open;
  for (const std::size_t index : headlines) {
    if (points[index].explanation || points[index].ranks == 1) continue;
    plan.points.push_back(request.plan.points[places[index]]);
    plan.points.back().explain = true;
    open.push_back(index);
  }
  if (open.empty()) return;
  say(request, "explaining " + std::to_string(open.size()) + " points for the page");
  StudyOptions options;
  options.processes = request.processes;
  options.execute = [&](const RunPlan::Point& point, Timeline* timeline) {
    return run_point(point, request.catalogue, timeline);
  };
  StudyHeading heading;
  heading.points = plan.points.size();
  StudyResult result = run_study(plan, heading, options);
  if (!result.failures.empty()) {
    const StudyResult::Failure& first = result.failures.front();
    throw std::runtime_error(fmt::format("cannot explain {} for the page: {}", first.point, first.reason));
  }
  for (auto& [place, point] : result.points) points[open[place]] = std::move(point);
}

/// Empty where there is no Graphviz, or no network. `point` has all links that its iterations load.
std::string picture_of(const Scenario& scenario, const TrainingPoint& point) {
  const Platform platform = platform_of(scenario);
  if (platform.nodes < 2) return {};
  const std::vector<double> utilisation = utilisation_of(platform, point);
  return drawn_or_empty([&](std::ostream& text) { write_topology_picture(text, platform, utilisation); });
}

/// Before what the page depends on, which comes last.
void add_explore(const RunPageRequest& request, Page& page) {
  if (request.explore.empty()) return;
  PageSection section{"explore", "Turn the settings yourself"};
  section.text = {
      "Ranks, network, batch and the strategy's settings as sliders: the same simulator, in one page that needs no "
      "program and no network."};
  section.text.push_back(request.explored.empty() ? "This command makes it:"
                                                  : "It lies beside this page; this command made it or makes it anew:");
  section.link = request.explored;
  section.verbatim = request.explore;
  section.folded = true;
  page.sections.insert(page.sections.end() - (page.sections.empty() ? 0 : 1), std::move(section));
}

}  // namespace

Page run_page(const RunPageRequest& request) {
  TrainingPageInput story;
  story.heading = {request.plan.scenario, request.plan.settings};
  story.summary = document_summary(request.document);
  story.command = request.command;
  story.scenario = request.document.to_ordered_json().dump(2);
  story.question = request.plan.question;
  for (const auto& [place, point] : request.points) story.points.push_back(point);
  const std::vector<std::size_t> places = places_of(request);
  const std::vector<std::size_t> headlines = headline_points(story.points, story.question);
  explain(request, places, headlines, story.points);
  say(request, "comparing with published runs");
  PublishedBeside beside = published_beside(request.plan, request.catalogue);
  story.published = std::move(beside.marks);
  story.trust = {beside.of_this_platform, std::move(beside.points)};
  Timeline timeline(timeline_capacity, Timeline::Keep::spans);
  if (!headlines.empty()) {
    story.timeline_point = headlines.back();
    Scenario scenario = read_point(request.plan.points[places[story.timeline_point]], request.catalogue).scenario;
    scenario.busiest_links = std::numeric_limits<int>::max();
    TrainingPoint point = train(scenario, &timeline);
    story.timeline = &timeline;
    story.topology_svg = picture_of(scenario, point);
    point.links.resize(std::min(point.links.size(), links_on_a_page));
    story.busiest_links = std::move(point.links);
  }
  Page page = training_page(story);
  add_explore(request, page);
  return page;
}

}  // namespace farandole
