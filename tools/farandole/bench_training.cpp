#include "bench_training.hpp"

#include <algorithm>
#include <iostream>

#include "replay.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"

namespace farandole {
namespace {

RunPlan plan(const BenchTraining& arguments, const Catalogue& catalogue) {
  Document document = Document::read(arguments.scenario);
  for (const std::string& assignment : arguments.settings) set_value(document, assignment);
  RunOptions options;
  options.no_library = "a replay sends its own messages, by an algorithm";
  return plan_run(document, catalogue, options);
}

/// Of a sweep, the points that so many ranks can run; of what is no sweep, its only point.
std::vector<PlannedPoint> points_for(const RunPlan& plan, const Catalogue& catalogue, int ranks) {
  std::vector<PlannedPoint> chosen;
  for (const RunPlan::Point& planned : plan.points) {
    PlannedPoint point = read_point(planned, catalogue);
    const bool is_last = &planned == &plan.points.back();
    if (processes_of(point.scenario) == ranks || (is_last && chosen.empty())) chosen.push_back(std::move(point));
  }
  for (const PlannedPoint& point : chosen) refuse_unreplayable(point, ranks);
  return chosen;
}

void say_what_is_left_out(const RunPlan& plan, const std::vector<PlannedPoint>& points) {
  if (points.size() < plan.points.size()) {
    std::cerr << "left out: " << plan.points.size() - points.size() << " points of other numbers of ranks\n";
  }
  for (const std::string& effect : left_out_of_replay(points.back().scenario)) {
    std::cerr << "left out, only a simulation has it: " << effect << "\n";
  }
}

}  // namespace

void BenchTraining::add_to(CLI::App& command) {
  CLI::Option* training =
      command
          .add_option(
              "--training", scenario,
              "measure the iterations of this scenario instead of a collective: layers as timed waits, gradients for "
              "real, as its strategy decides")
          ->type_name("SCENARIO.json");
  command.add_option("--set", settings, "replace a value of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false)
      ->needs(training);
  command.add_option("--timeline", timeline, "write a Chrome trace of rank 0 of the scenario")
      ->type_name("FILE")
      ->needs(training);
  for (const char* other : {"-b", "-e", "-f", "--op", "--algorithm", "--root", "--segments", "--servers", "--peer"}) {
    training->excludes(command.get_option(other));
  }
}

bool bench_training(const BenchTraining& arguments, const std::string& backend, int warmup, int iterations,
                    const OutputOptions& output, Session& session) {
  const Format format = output.chosen_format();
  if (!session.can_replay()) refuse_option("--backend", "one that can replay a training, such as mpi", backend);
  const Catalogue catalogue;
  const RunPlan planned = plan(arguments, catalogue);
  if (session.endpoint().rank() == 0) {
    Targets targets;
    targets.reads("the scenario", arguments.scenario);
    output.add_to(targets);
    targets.writes("--timeline", arguments.timeline);
    targets.check();
  }
  const auto chosen = points_for(planned, catalogue, session.endpoint().ranks());
  say_what_is_left_out(planned, chosen);
  Settings settings = session.description();
  settings.insert(planned.settings.begin(), planned.settings.end());
  const auto timeline = arguments.timeline.empty() ? nullptr : new_timeline();
  const ReplayOptions options{backend, {iterations, warmup}};
  std::vector<ReplayedPoint> points;
  for (const PlannedPoint& point : chosen) {
    const bool is_last = &point == &chosen.back();
    points.push_back(replay(point.scenario, session, options, is_last ? timeline.get() : nullptr));
  }
  const Heading heading{planned.scenario, settings, {}, {}, output.settings};
  if (session.endpoint().rank() == 0) {
    output.write([&](std::ostream& out) { write_replay(out, format, heading, points); });
    if (timeline) {
      write_file(arguments.timeline, [&](std::ostream& out) { write_chrome_trace(out, *timeline, heading); });
    }
  }
  return std::ranges::all_of(points, [](const ReplayedPoint& point) { return point.wrong == 0; });
}

}  // namespace farandole
