// farandole run: a scenario to result points.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cost_options.hpp"
#include "load_options.hpp"
#include "output_options.hpp"
#include "page_options.hpp"
#include "pasted_job.hpp"
#include "plan_messages.hpp"
#include "progress_bar.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "run_files.hpp"
#include "run_page.hpp"
#include "scenario/anchor.hpp"
#include "search_run.hpp"
#include "shard_option.hpp"
#include "study/study.hpp"
#include "study/team.hpp"

namespace farandole {
namespace {

constexpr int most_processes = 1024;

struct RunArguments {
  ScenarioArguments scenario;
  std::string launch;
  std::string fidelity;
  std::string seed;
  std::string timeline;
  bool quiet = false;
  bool no_fold = false;
  bool explain = false;
  int jobs = 0;
  bool resume = false;
  std::string shard;
  CostOptions cost;
  LoadOptions loads;
  OutputOptions output;
  PageOptions pages;
};

Document read_document(const RunArguments& arguments) {
  Document document = arguments.scenario.read();
  if (!arguments.launch.empty()) {
    set_after_measuring(document, "/platform/launch",
                        Node{launch_text(arguments.launch), 0, std::make_shared<const std::string>("--launch")});
    forget_release(document, arguments.scenario.settings);
  }
  if (!arguments.seed.empty()) {
    const int seed = whole_number("--seed", arguments.seed, 0);
    set_after_measuring(document, "/measure/seed",
                        Node{std::int64_t{seed}, 0, std::make_shared<const std::string>("--seed")});
  }
  return document;
}

/// Beside the output; none where the output is no file, or there is nothing to resume.
std::filesystem::path journal_of(const RunArguments& arguments, const RunPlan& plan) {
  const std::string& file = arguments.output.file;
  std::error_code none;
  const bool is_file =
      !file.empty() && (!std::filesystem::exists(file, none) || std::filesystem::is_regular_file(file));
  if (!is_file && arguments.resume) {
    refuse_option("--resume", "--output FILE with it, beside which finished points are kept", file);
  }
  return is_file && plan.points.size() > 1 ? std::filesystem::path(file + ".partial") : std::filesystem::path();
}

int processes_of(const RunArguments& arguments) {
  return arguments.jobs > 0 ? arguments.jobs : static_cast<int>(std::thread::hardware_concurrency());
}

StudyResult run_points(const RunArguments& arguments, const RunPlan& plan, const StudyHeading& heading,
                       StudyOptions options) {
  options.processes = processes_of(arguments);
  options.resume = arguments.resume;
  options.journal = journal_of(arguments, plan);
  options.record_timeline = !arguments.timeline.empty();
  ProgressBar bar;
  const bool progress = !arguments.quiet && plan.points.size() > 1 && isatty(STDERR_FILENO) != 0;
  if (progress) options.progress = [&](int done, int all) { bar.show(done, all); };
  StudyResult result = run_study(plan, heading, options);
  if (progress) bar.clear();
  if (!arguments.quiet && result.resumed > 0) {
    std::cerr << "resumed: " << result.resumed << " points were finished already\n";
  }
  return result;
}

void write_run_result(const RunArguments& arguments, const StudyHeading& heading, const StudyResult& result) {
  const Format format = arguments.output.chosen_format();
  arguments.output.write([&](std::ostream& out) {
    if (heading.shard.of > 1) return write_shard(out, heading, result);
    std::vector<TrainingPoint> points;
    for (const auto& [index, point] : result.points) points.push_back(point);
    const auto write = heading.comparison ? write_training_comparison : write_training;
    write(out, format,
          {heading.scenario, heading.settings, {}, {}, arguments.output.settings, result.failures, heading.question},
          points);
  });
}

/// What was typed, as far as results depend on it.
std::string typed_run(const RunArguments& arguments) {
  std::string line = "farandole run " + shell_word(arguments.scenario.file) +
                     given("--set", arguments.scenario.settings) + given("--launch", {arguments.launch}) +
                     given("--fidelity", {arguments.fidelity});
  if (arguments.no_fold) line += " --no-fold";
  return line + given("--network", {arguments.cost.network}) + given("--seed", {arguments.seed});
}

/// Without what explore does not take.
std::string explore_command(const RunArguments& arguments) {
  const std::string page = arguments.pages.explored();
  if (page.empty() || !arguments.launch.empty()) return {};
  return "farandole explore " + shell_word(arguments.scenario.file) + given("--set", arguments.scenario.settings) +
         given("--html", {page});
}

void write_page(const RunArguments& arguments, const Document& document, const Catalogue& catalogue,
                const RunPlan& plan, const StudyResult& result) {
  if (!arguments.pages.are_wanted()) return;
  const std::filesystem::path explored = arguments.pages.explored();
  arguments.pages.write(
      run_page({document, catalogue, plan, result.points, typed_run(arguments), explore_command(arguments),
                std::filesystem::exists(explored) ? explored.filename().string() : "", processes_of(arguments),
                arguments.quiet}));
}

/// The points that finished are written all the same, except to a shard, and kept in the journal for --resume.
[[noreturn]] void fail(const RunArguments& arguments, const StudyHeading& heading, const StudyResult& result) {
  for (const auto& [point, reason] : result.failures) std::cerr << "failed: " << point << ": " << reason << "\n";
  if (heading.shard.of == 1) write_run_result(arguments, heading, result);
  throw std::runtime_error(
      fmt::format("{} of {} points failed", result.failures.size(), result.failures.size() + result.points.size()));
}

RunFiles files_of_run(const RunArguments& arguments) {
  return {arguments.scenario.file, arguments.timeline, arguments.loads.drawing, arguments.output, arguments.pages};
}

void run_search(const RunArguments& arguments, const Document& document, const SearchSpec& spec,
                const RunOptions& options) {
  if (arguments.resume) refuse_option("--resume", "no such option with \"optimise\"", arguments.scenario.file);
  if (!arguments.shard.empty()) refuse_option("--shard", "no such option with \"optimise\"", arguments.shard);
  if (!arguments.timeline.empty()) refuse_option("--timeline", "no such option with \"optimise\"", arguments.timeline);
  if (arguments.pages.are_wanted()) refuse_option("--html", "no page of an \"optimise\"", arguments.scenario.file);
  if (options.fidelities.size() > 1) refuse_option("--fidelity", "one level with \"optimise\"", arguments.fidelity);
  const Catalogue catalogue;
  check_files(files_of_run(arguments), catalogue);
  StudyOptions study;
  study.processes = processes_of(arguments);
  study.point_timeout = arguments.cost.longest_point();
  study.execute = [&](const RunPlan::Point& point, Timeline* timeline) {
    return run_point(point, catalogue, timeline);
  };
  const RunPlan plan = run_and_write_search(document, spec, catalogue, options, study, arguments.output);
  if (!arguments.quiet) say_what_is_noted(plan);
}

/// Which part is to be run. Refuses what does not go together, before anything runs.
StudyShard checked_shard(const RunArguments& arguments) {
  static_cast<void>(arguments.output.chosen_format());
  arguments.pages.check();
  const StudyShard shard = parse_shard(arguments.shard);
  if (shard.of > 1 && arguments.pages.are_wanted()) {
    refuse_option("--shard", "no page of one shard", arguments.shard);
  }
  if (shard.of > 1 && arguments.output.file.empty()) {
    refuse_option("--shard", "--output FILE with it, for farandole merge", "no file");
  }
  if (shard.of > 1 && !arguments.loads.drawing.empty()) {
    refuse_option("--draw", "a run of all points", "--shard " + arguments.shard);
  }
  return shard;
}

RunOptions options_of(const RunArguments& arguments) {
  RunOptions options;
  options.fidelities = parse_fidelities(arguments.fidelity);
  if (arguments.no_fold) options.folding = FoldingPolicy::never;
  options.network = arguments.cost.solver();
  options.explain = arguments.explain;
  options.links = arguments.loads.count();
  options.budget = arguments.cost.most();
  return options;
}

void run_with(std::unique_ptr<Team>& team, const RunArguments& arguments) {
  const StudyShard shard = checked_shard(arguments);
  const Document document = read_document(arguments);
  const Catalogue catalogue;
  RunOptions options = options_of(arguments);
  arguments.cost.hold(arguments.scenario.file);
  options.shards = shard.of;
  if (const auto spec = read_search(document)) {
    const bool is_worker = team && !team->is_manager();
    team.reset();  // a search decides point by point what to run next, on rank 0 alone
    RunOptions of_search = options;
    if (!spec->ranges.empty()) of_search.evaluations = spec->evaluations;
    of_search.bands = false;  // most points are run only to be passed over
    return is_worker ? void() : run_search(arguments, document, *spec, of_search);
  }
  RunPlan plan = [&] {
    const PointTimer timer(Seconds::infinity(), PointTimer::Where::program);  // measured runs are run here
    return plan_run(document, catalogue, options);
  }();
  arguments.loads.ask(plan);
  const StudyHeading heading{plan.scenario,
                             identity_of(document, catalogue, options),
                             plan.points.size(),
                             options.fidelities.size() > 1,
                             shard,
                             arguments.output.format,
                             plan.settings,
                             plan.question};
  StudyOptions study;
  study.team = team.get();
  study.point_timeout = arguments.cost.longest_point();
  study.execute = [&](const RunPlan::Point& p, Timeline* timeline) { return run_point(p, catalogue, timeline); };
  if (team && !team->is_manager()) return serve_study(plan, heading, study);
  check_files(files_of_run(arguments), catalogue);
  StudyResult result = run_points(arguments, plan, heading, study);
  if (!arguments.quiet) say_what_is_noted(plan);
  if (!result.failures.empty()) fail(arguments, heading, result);
  if (shard.of == 1) arguments.loads.draw(plan, catalogue, result.points.rbegin()->second);
  write_run_result(arguments, heading, result);
  write_page(arguments, document, catalogue, plan, result);
  if (result.timeline) write_timeline(plan, result, arguments.timeline, arguments.quiet);
  if (result.journal) result.journal->remove();  // last: as long as a file is missing, finished points are kept
}

void run_scenario(const RunArguments& arguments) {
  std::unique_ptr<Team> team = join_team();
  // What all ranks would say, the manager says alone.
  if (team && !team->is_manager()) std::cerr.setstate(std::ios::failbit);
  try {
    run_with(team, arguments);
  } catch (const InputError& error) {
    if (team) say_before_leaving(error);
    throw;
  }
}

}  // namespace

void add_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      app.add_subcommand("run", "Simulate a scenario: iteration time, throughput, scaling efficiency, and why");
  arguments->scenario.add_to(*command, "a file such as scenarios/horovod-512-roce25.json");
  command
      ->add_option("--launch", arguments->launch,
                   "a launch line, pasted, or the file of a script that has one: torchrun, srun, accelerate launch, "
                   "deepspeed, horovodrun, mpirun, aprun; sets ranks and placement")
      ->type_name("LINE|FILE");
  command->add_option("--fidelity", arguments->fidelity, fidelity_choices)->type_name("LEVEL");
  command->add_flag("--no-fold", arguments->no_fold,
                    "simulate every rank, even where one can stand for many (slower, the same to rounding)");
  command->add_flag("--explain", arguments->explain,
                    "waterfall from ideal to actual, critical path, and what would help, of every point");
  command->add_option("--seed", arguments->seed, "the seed of all that is random")->type_name("N");
  command->add_option("--timeline", arguments->timeline, "write a Chrome trace of rank 0, as HOROVOD_TIMELINE does")
      ->type_name("FILE");
  command
      ->add_option("--jobs", arguments->jobs,
                   "processes that run points; all cores unless said, and the ranks under mpirun")
      ->type_name("N")
      ->check(CLI::Range(1, most_processes));
  command->add_flag("--resume", arguments->resume, "resume an interrupted run from its journal beside --output");
  command->add_option("--shard", arguments->shard, "run every N-th point only; farandole merge joins the outputs")
      ->type_name("I/N");
  arguments->cost.add_network_to(*command);
  arguments->cost.add_to(*command);
  arguments->loads.add_to(*command, "point", "the last point");
  command->add_flag("--quiet", arguments->quiet, "no messages and no progress on stderr");
  arguments->output.add_to(*command);
  arguments->pages.add_to(*command);
  command->footer(
      "Example:\n"
      "  farandole run scenarios/horovod-512-roce25.json --html page.html\n"
      "  farandole run scenarios/horovod-512-roce25.json --set /workload/batch_per_rank=32 --format csv");
  command->callback([arguments] { run_scenario(*arguments); });
}

}  // namespace farandole
