// farandole place: what is it worth where a scheduler places a job?
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "config/section.hpp"
#include "cost_options.hpp"
#include "question_answer.hpp"
#include "scenario/anchor.hpp"
#include "scenario/budget.hpp"
#include "study/study.hpp"
#include "switched_machine.hpp"

namespace farandole {
namespace {

using Nodes = std::vector<int>;
constexpr int most_draws = 10'000;
constexpr int most_nodes = 65'536;  // of the machine; none is larger
constexpr double minutes_of_a_day = 24 * 60;
constexpr double no_difference = 5e-4;  // which a tenth of a percent does not show

struct PlaceArguments {
  ScenarioArguments scenario;
  std::string topology_conf;
  std::string nodes_per_switch;
  std::string nodes;
  std::string oversubscription;
  std::string others;
  std::string draws = "20";
  std::string seed = "1";
  CostOptions cost;
  OutputOptions output;
  PageOptions pages;
};

struct Placed {
  Nodes nodes;
  TrainingPoint point;
};

/// Step times over draws of nodes, each as likely.
struct Expected {
  std::vector<std::size_t> draws;  // places in PlaceAnswer::placed
  double seconds = 0;              // their mean
  double error = 0;                // standard error of it
};

struct SwitchesAsked {
  int most = 1;  // --switches
  Expected expected;
};

struct PlaceAnswer {
  SwitchedMachine machine;
  Record rule = Record::object();  // the scenario's own placement, without its nodes
  std::vector<Placed> placed;      // all that were run
  std::size_t best = 0;
  std::size_t worst = 0;
  Expected expected;
  std::vector<SwitchesAsked> asked;
  std::vector<std::string> notes;  // on what a point does not see of its machine

  [[nodiscard]] double seconds(std::size_t place) const { return placed[place].point.iteration.si(); }
  [[nodiscard]] bool has_choice() const { return placed.size() > 1; }
  [[nodiscard]] Record placement(std::size_t place) const {
    Record placement = rule;
    placement["nodes"] = placed[place].nodes;
    return placement;
  }
};

std::vector<double> read_oversubscription(const std::string& text) {
  std::vector<double> levels;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    std::istringstream number(part);
    double value = 0;
    if (!(number >> value) || !number.eof() || !(value >= 1) || value > 1000)
      refuse_option("--oversubscription", "a number from 1 to 1000, or one for each level such as 2,4", text);
    levels.push_back(value);
  }
  return levels;
}

double read_others(const std::string& text) {
  if (text.empty()) return 0;
  const OptionValue option("--others", text);
  const double share = read<Fraction>(option.value()).value;
  if (share < 0 || share >= 1) option.value().fail("a share from 0 % to below 100 %");
  return share;
}

SwitchOptions switches_of(const PlaceArguments& arguments) {
  SwitchOptions options;
  if (!arguments.topology_conf.empty()) {
    if (!arguments.nodes_per_switch.empty() || !arguments.nodes.empty())
      refuse_option(arguments.nodes.empty() ? "--nodes-per-switch" : "--nodes",
                    "no such option with --topology-conf, which says it",
                    arguments.nodes.empty() ? arguments.nodes_per_switch : arguments.nodes);
    options.tree = read_slurm_topology(arguments.topology_conf);
  }
  if (!arguments.nodes_per_switch.empty())
    options.nodes_per_switch = whole_number("--nodes-per-switch", arguments.nodes_per_switch, 1, most_devices);
  if (!arguments.nodes.empty()) options.nodes = whole_number("--nodes", arguments.nodes, 1, most_nodes);
  options.oversubscription = read_oversubscription(arguments.oversubscription);
  options.others = read_others(arguments.others);
  return options;
}

class PlaceQuestion {
 public:
  PlaceQuestion(const PlaceArguments& arguments, const Document& document, const Catalogue& catalogue)
      : arguments_(arguments),
        catalogue_(catalogue),
        document_(anchored(expand_sweep(document).back().document, catalogue)),
        seed_(static_cast<std::uint64_t>(whole_number("--seed", arguments.seed, 0))),
        draws_(whole_number("--draws", arguments.draws, 1, most_draws)) {
    document_.remove("/question");
    options_.budget = arguments.cost.most();
    options_.network = arguments.cost.solver();
    options_.bands = false;
  }

  PlaceAnswer answer() {
    const SwitchOptions switches = switches_of(arguments_);
    const RunPlan own = plan_run(document_, catalogue_, options_);
    used_ = own.points.front().nodes;
    each_ = cost_of(read_point(own.points.front(), catalogue_).scenario);
    answer_.machine = switched_machine(document_, catalogue_, switches, used_);
    if (!answer_.machine.overrides.empty()) document_.set("/platform/override", answer_.machine.overrides);
    const auto all = static_cast<int>(answer_.machine.nodes());
    if (all > most_nodes)
      refuse_option("--topology-conf", fmt::format("at most {} nodes", most_nodes), std::to_string(all));
    if (used_ > all)
      document_.find("/platform")->fail(fmt::format("at most the {} nodes of the machine", all), std::to_string(used_));
    const std::size_t packed = add(packed_nodes());
    if (used_ == all || used_ == 1 || answer_.machine.switches.size() == 1) {
      answer_.expected.draws = {packed};
    } else {
      add_all();
    }
    run();
    return std::move(answer_);
  }

 private:
  void add_all() {
    const auto switches = static_cast<int>(answer_.machine.switches.size());
    for (int among = 2; among < switches; among *= 2) add(spread_nodes(among));
    add(spread_nodes(switches));
    std::mt19937_64 engine(seed_);
    Nodes every;
    for (const Nodes& nodes : answer_.machine.switches) every.insert(every.end(), nodes.begin(), nodes.end());
    for (int draw = 0; draw < draws_; ++draw) answer_.expected.draws.push_back(add(drawn(every, engine)));
    for (int most = least_switches(); most < switches; most *= 2) {
      SwitchesAsked asked{most, {}};
      for (int draw = 0; draw < draws_; ++draw)
        asked.expected.draws.push_back(add(drawn(nodes_of_some(most, engine), engine)));
      answer_.asked.push_back(std::move(asked));
    }
  }

  /// One that is there already is not run again.
  std::size_t add(Nodes nodes) {
    std::ranges::sort(nodes, {}, [&](int node) { return answer_.machine.order[static_cast<std::size_t>(node)]; });
    const auto [known, is_new] = places_.try_emplace(nodes, answer_.placed.size());
    if (is_new) answer_.placed.push_back({std::move(nodes), {}});
    return known->second;
  }

  [[nodiscard]] std::vector<Nodes> largest_first() const {
    std::vector<Nodes> switches = answer_.machine.switches;
    std::ranges::stable_sort(switches, std::greater{}, [](const Nodes& nodes) { return nodes.size(); });
    return switches;
  }

  [[nodiscard]] Nodes packed_nodes() const {
    Nodes nodes;
    for (const Nodes& one : largest_first()) {
      for (const int node : one) {
        if (static_cast<int>(nodes.size()) < used_) nodes.push_back(node);
      }
    }
    return nodes;
  }

  [[nodiscard]] int least_switches() const {
    int count = 0;
    int room = 0;
    for (const Nodes& one : largest_first()) {
      if (room >= used_) break;
      room += static_cast<int>(one.size());
      ++count;
    }
    return count;
  }

  /// As evenly as it goes over so many switches, or over more where these have no room.
  [[nodiscard]] Nodes spread_nodes(int among) const {
    std::vector<Nodes> switches = largest_first();
    switches.resize(static_cast<std::size_t>(std::max(among, least_switches())));
    Nodes nodes;
    for (std::size_t slot = 0; static_cast<int>(nodes.size()) < used_; ++slot) {
      for (const Nodes& one : switches) {
        if (slot < one.size() && static_cast<int>(nodes.size()) < used_) nodes.push_back(one[slot]);
      }
    }
    return nodes;
  }

  /// The first nodes that become free where all are in use: each as likely.
  [[nodiscard]] Nodes drawn(const Nodes& from, std::mt19937_64& engine) const {
    Nodes nodes = random_nodes(used_, static_cast<int>(from.size()), engine);
    for (int& node : nodes) node = from[static_cast<std::size_t>(node)];
    return nodes;
  }

  /// Those of so many switches that have room for the job.
  [[nodiscard]] Nodes nodes_of_some(int most, std::mt19937_64& engine) const {
    constexpr int tries = 1000;  // where hardly any have room, the largest
    std::vector<Nodes> switches = answer_.machine.switches;
    for (int attempt = 0;; ++attempt) {
      if (attempt == tries) switches = largest_first();
      Nodes nodes;
      for (int place = 0; const int drawn : random_nodes(most, static_cast<int>(switches.size()), engine)) {
        const Nodes& one = switches[static_cast<std::size_t>(attempt == tries ? place++ : drawn)];
        nodes.insert(nodes.end(), one.begin(), one.end());
      }
      if (static_cast<int>(nodes.size()) >= used_) return nodes;
    }
  }

  /// Of all placements, which no sweep of the scenario makes: it would be blamed for them.
  void require_budget() {
    each_.time *= static_cast<double>(answer_.placed.size());
    each_.pointer.clear();
    each_.what = counted(static_cast<std::int64_t>(answer_.placed.size())) + " placements";
    require_within(options_.budget, each_, {"farandole", 0, "--draws"});
    options_.budget = {};
  }

  void run() {
    require_budget();
    const auto own = document_.find("/platform/placement");
    if (own && own->is_object()) answer_.rule = Record::parse(to_json(own->node()).dump());
    const std::string word = own && own->is_string() ? read<std::string>(*own) : "";
    if (word == "by_slot" || word == "by_node") answer_.rule["order"] = word;
    for (const char* key : {"nodes", "first_node", "seed"}) answer_.rule.erase(key);
    Record values = Record::array();
    for (const Placed& placed : answer_.placed) values.push_back(placed.nodes);
    Document document = document_;
    const auto set = [&](const char* pointer, const Record& value) {
      document.set(pointer, Document::parse(value.dump(), document_.source()).root().node());
    };
    set("/platform/placement", answer_.placement(0));
    set("/sweep", Record{{"/platform/placement/nodes", values}});
    const RunPlan plan = plan_run(document, catalogue_, options_);
    answer_.notes = plan.notes;
    StudyOptions study;
    study.processes = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    study.point_timeout = arguments_.cost.longest_point();
    study.execute = [&](const RunPlan::Point& point, Timeline* timeline) {
      return run_point(point, catalogue_, timeline);
    };
    StudyResult result = run_study(plan, {plan.scenario, "", plan.points.size(), false, {}, "", {}}, study);
    if (!result.failures.empty()) throw std::runtime_error("a placement failed: " + result.failures.front().reason);
    for (auto& [place, point] : result.points) answer_.placed[place].point = std::move(point);
    work_out();
  }

  void work_out() {
    for (std::size_t place = 0; place < answer_.placed.size(); ++place) {
      if (answer_.seconds(place) < answer_.seconds(answer_.best)) answer_.best = place;
      if (answer_.seconds(place) > answer_.seconds(answer_.worst)) answer_.worst = place;
    }
    expect(answer_.expected);
    for (SwitchesAsked& asked : answer_.asked) expect(asked.expected);
  }

  void expect(Expected& expected) const {
    const auto count = static_cast<double>(expected.draws.size());
    for (const std::size_t place : expected.draws) expected.seconds += answer_.seconds(place) / count;
    double squares = 0;
    for (const std::size_t place : expected.draws) squares += std::pow(answer_.seconds(place) - expected.seconds, 2);
    if (count > 1) expected.error = std::sqrt(squares / (count - 1) / count);
  }

  const PlaceArguments& arguments_;
  const Catalogue& catalogue_;
  Document document_;
  RunOptions options_;
  std::uint64_t seed_;
  int draws_;
  int used_ = 1;
  Cost each_;  // of a placement
  PlaceAnswer answer_;
  std::map<Nodes, std::size_t> places_;
};

int switches_used(const PlaceAnswer& answer, const Nodes& nodes) {
  int count = 0;
  for (const Nodes& one : answer.machine.switches) {
    if (std::ranges::any_of(one, [&](int node) { return std::ranges::find(nodes, node) != nodes.end(); })) ++count;
  }
  return count;
}

std::string step_text(double seconds) {
  return grouped(seconds * milliseconds_per_second, 3);
}

std::vector<std::string> place_headline(const PlaceAnswer& answer) {
  const Placed& best = answer.placed[answer.best];
  const TrainingPoint& point = best.point;
  const double seconds = point.iteration.si();
  const std::string step = fmt::format("{} on {}, {}: a step takes {} ms", point.model, ranks_text(point.ranks),
                                       point.platform, step_text(seconds));
  const std::size_t switches = answer.machine.switches.size();
  const std::string machine = fmt::format("{} of {} nodes, {} switch{}.", best.nodes.size(), answer.machine.nodes(),
                                          switches, switches == 1 ? "" : "es");
  if (!answer.has_choice()) {
    const std::string why = best.nodes.size() == 1                        ? "one node uses no link between switches"
                            : best.nodes.size() == answer.machine.nodes() ? "the job takes all nodes"
                                                                          : "all nodes stand under one switch";
    return {step + fmt::format(", and there is nothing to choose: {}.", why), machine};
  }
  if (answer.seconds(answer.worst) < seconds * (1 + no_difference))
    return {step + " wherever its nodes are: placement makes no difference.", machine};
  return {step + fmt::format(" where the job is placed best, {} where it is to be expected, {} at worst.",
                             signed_percent(answer.expected.seconds / seconds - 1, 1),
                             signed_percent(answer.seconds(answer.worst) / seconds - 1, 1)),
          machine};
}

/// Of a day's work at the expected placement, what is gained: so long one may wait for it.
double minutes_that_pay(const PlaceAnswer& answer, const SwitchesAsked& asked) {
  return (1 - asked.expected.seconds / answer.expected.seconds) * minutes_of_a_day;
}

std::string wait_text(double minutes) {
  if (minutes < 1) return "not at all";
  return minutes < 120 ? fmt::format("{:.0f} min", minutes) : fmt::format("{:.1f} h", minutes / 60);
}

std::string placement_option(const PlaceAnswer& answer, std::size_t place) {
  return "--set " + shell_word("/platform/placement=" + answer.placement(place).dump());
}

Grid placements_grid(const PlaceAnswer& answer) {
  const double best = answer.seconds(answer.best);
  const TrainingPoint& point = answer.placed[answer.best].point;
  Grid grid{"Placements", {{"placement", Align::left}, {"switches"}, {"step (ms)"}, {"samples/s"}, {"slower (%)"}}, {}};
  const auto row = [&](const std::string& name, const std::string& switches, const std::string& step, double seconds) {
    grid.rows.push_back({Cell(name), Cell(switches), Cell(step),
                         Cell(grouped(point.samples_per_second * point.iteration.si() / seconds, 1)),
                         Cell(grouped((seconds / best - 1) * 100, 1))});
  };
  const auto row_of = [&](const std::string& name, std::size_t place) {
    row(name, std::to_string(switches_used(answer, answer.placed[place].nodes)), step_text(answer.seconds(place)),
        answer.seconds(place));
  };
  row_of("best", answer.best);
  if (!answer.has_choice()) return grid;
  row("expected", "", fmt::format("{} +- {}", step_text(answer.expected.seconds), step_text(answer.expected.error)),
      answer.expected.seconds);
  row_of("worst", answer.worst);
  return grid;
}

Grid asked_grid(const PlaceAnswer& answer) {
  Grid grid{"What asking for switches is worth",
            {{"asked of Slurm", Align::left}, {"step (ms)"}, {"faster (%)"}, {"waiting pays, for a day's work"}},
            {}};
  for (const SwitchesAsked& one : answer.asked) {
    grid.rows.push_back({Cell(fmt::format("--switches={}", one.most)),
                         Cell(fmt::format("{} +- {}", step_text(one.expected.seconds), step_text(one.expected.error))),
                         Cell(grouped((1 - one.expected.seconds / answer.expected.seconds) * 100, 1)),
                         Cell(wait_text(minutes_that_pay(answer, one)))});
  }
  return grid;
}

/// Bars of milliseconds.
Record place_chart(const PlaceAnswer& answer) {
  Record rows = Record::array();
  const auto row = [&](const std::string& name, double seconds) {
    rows.push_back({{"series", name}, {"x", name}, {"y", seconds * milliseconds_per_second}});
  };
  row("best", answer.seconds(answer.best));
  for (const SwitchesAsked& one : answer.asked) row(fmt::format("--switches={}", one.most), one.expected.seconds);
  row("expected", answer.expected.seconds);
  row("worst", answer.seconds(answer.worst));
  return {{"axis", ""}, {"measure", "step"}, {"unit", "ms"}, {"share", false}, {"rows", rows}, {"accent", "best"}};
}

Record expected_record(const PlaceAnswer& answer, const Expected& expected) {
  Record draws = Record::array();
  for (const std::size_t place : expected.draws)
    draws.push_back({{"nodes", answer.placed[place].nodes}, {"iteration_seconds", answer.seconds(place)}});
  return {{"iteration_seconds", expected.seconds}, {"standard_error_seconds", expected.error}, {"draws", draws}};
}

Record placed_record(const PlaceAnswer& answer, std::size_t place) {
  Record set = Record::object();
  if (!answer.machine.overrides.empty()) set["/platform/override"] = Record::parse(answer.machine.overrides);
  set["/platform/placement"] = answer.placement(place);
  return {{"nodes", answer.placed[place].nodes},
          {"switches", switches_used(answer, answer.placed[place].nodes)},
          {"set", set},
          {"point", to_record(answer.placed[place].point)}};
}

Record place_record(const PlaceAnswer& answer) {
  Record asked = Record::array();
  for (const SwitchesAsked& one : answer.asked) {
    asked.push_back({{"switches", one.most},
                     {"expected", expected_record(answer, one.expected)},
                     {"minutes_a_day", minutes_that_pay(answer, one)}});
  }
  return {{"nodes", answer.placed.front().nodes.size()},  {"of_nodes", answer.machine.nodes()},
          {"switches", answer.machine.switches.size()},   {"assumed", answer.machine.assumed},
          {"best", placed_record(answer, answer.best)},   {"expected", expected_record(answer, answer.expected)},
          {"worst", placed_record(answer, answer.worst)}, {"asked", asked}};
}

QuestionAnswer place_answer(const PlaceAnswer& answer, const std::string& scenario) {
  QuestionAnswer result{"place", scenario, place_headline(answer), {placements_grid(answer)}, {}, {},
                        {},      {},       place_record(answer)};
  if (!answer.asked.empty()) result.grids.push_back(asked_grid(answer));
  if (answer.has_choice()) {
    result.notes = {
        fmt::format("expected: the first nodes that become free in a full machine, each as likely; the mean of "
                    "{} draws (--draws) and its standard error",
                    answer.expected.draws.size()),
        fmt::format("best and worst: of {} placements that were run; ranks go to nodes in the scheduler's order",
                    answer.placed.size())};
    result.chart = Chart{"bars", "placements", "A step in milliseconds, by placement"};
    result.drawn = place_chart(answer);
  }
  for (const std::string& assumed : answer.machine.assumed) result.notes.push_back("assumed: " + assumed);
  result.notes.insert(result.notes.end(), answer.notes.begin(), answer.notes.end());
  if (!answer.machine.overrides.empty())
    result.options.push_back("all: --set " + shell_word("/platform/override=" + answer.machine.overrides));
  if (!answer.has_choice()) return result;
  result.options.push_back("best: " + placement_option(answer, answer.best));
  result.options.push_back("worst: " + placement_option(answer, answer.worst));
  return result;
}

void answer_place(const PlaceArguments& arguments) {
  check_forms(arguments.output, arguments.pages);
  Targets files;
  files.reads("the scenario", arguments.scenario.file);
  if (!arguments.topology_conf.empty()) files.reads("--topology-conf", arguments.topology_conf);
  arguments.output.add_to(files);
  arguments.pages.add_to(files);
  files.check();
  const Catalogue catalogue;
  const Document document = arguments.scenario.read();
  const PlaceAnswer answer = arguments.cost.within(
      arguments.scenario.file, [&] { return PlaceQuestion(arguments, document, catalogue).answer(); });
  write_question_answer(place_answer(answer, arguments.scenario.file), arguments.output, arguments.pages);
}

}  // namespace

void add_place(CLI::App& app) {
  auto arguments = std::make_shared<PlaceArguments>();
  CLI::App* command = app.add_subcommand("place", "Find what placement is worth: best, expected, worst, --switches");
  arguments->scenario.add_to(*command, "the scenario file; of a sweep, its last configuration counts");
  command->add_option("--topology-conf", arguments->topology_conf, "Slurm's topology.conf, or scontrol show topology")
      ->type_name("FILE");
  command
      ->add_option("--nodes-per-switch", arguments->nodes_per_switch,
                   "instead: this many nodes under every switch (default: the machine's own, else 16)")
      ->type_name("N");
  command->add_option("--nodes", arguments->nodes, "nodes of the machine (default: its own, else four times the job's)")
      ->type_name("N");
  command
      ->add_option("--oversubscription", arguments->oversubscription,
                   "what a switch's nodes send, to what it sends upwards (default: 1, or the machine's own)")
      ->type_name("X[,X]");
  command
      ->add_option("--others", arguments->others,
                   "what other jobs take of every link between switches, as 60 % (default: nothing)")
      ->type_name("SHARE");
  command->add_option("--draws", arguments->draws, "of nodes, of which the expected step is the mean")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of the draws")->type_name("N")->capture_default_str();
  arguments->cost.add_network_to(*command);
  arguments->cost.add_to(*command);
  arguments->output.add_file_to(*command, "table or json");
  arguments->pages.add_to(*command);
  command->footer(
      "Example:\n"
      "  farandole place scenarios/horovod-512-roce25.json --set /sweep={} --nodes-per-switch 16 --oversubscription 8 "
      "--others '60 %'");
  command->callback([arguments] { answer_place(*arguments); });
}

}  // namespace farandole
