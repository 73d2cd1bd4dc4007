// farandole tune: which settings of the framework make this job faster, or let it take less memory?
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "cost_options.hpp"
#include "question_answer.hpp"
#include "report/facet.hpp"
#include "report/table.hpp"
#include "tune_search.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

constexpr const char* tune_budget = "60 s, 1 GiB";
constexpr double bytes_per_gigabyte = 1e9;

struct TuneArguments {
  ScenarioArguments scenario;
  CostOptions cost;
  OutputOptions output;
  PageOptions pages;
};

/// By how much a part of the step or of the memory differs.
struct PartChange {
  std::string part;
  double more = 0;
};

// ---- in words

std::vector<FrameworkWords> words_of(const TuneFound& found, const TuneChoice& choice) {
  std::vector<FrameworkWords> words;
  for (std::size_t setting = 0; setting < choice.size(); ++setting) {
    if (choice[setting] >= 0)
      words.push_back(found.settings[setting].values[static_cast<std::size_t>(choice[setting])].words);
  }
  return words;
}

bool changes_setting(const TuneFound& found, const TuneChoice& choice, const std::string& name) {
  for (std::size_t setting = 0; setting < choice.size(); ++setting) {
    if (choice[setting] >= 0 && found.settings[setting].name == name) return true;
  }
  return false;
}

/// What the devices compute is less for one reason or another.
std::string name_of_compute(const TuneFound& found, const TuneChoice& choice) {
  const bool recomputes = changes_setting(found, choice, "recomputation");
  const bool is_other_batch = changes_setting(found, choice, "micro-batch");
  if (recomputes && is_other_batch) return "recomputation and kernels of another batch";
  if (recomputes) return "recomputation";
  if (is_other_batch) return "kernels of another batch";
  return changes_setting(found, choice, "precision") ? "kernels in that precision" : "compute";
}

std::string name_of_part(const TuneFound& found, const TuneChoice& choice, std::string part) {
  if (part == "compute" || part == "device") return name_of_compute(found, choice);
  if (part == "other") return "copies, collective kernels and the like";
  std::ranges::replace(part, '_', ' ');
  return part;
}

std::vector<PartChange> step_changes(const TuneFound& found, const TuneRowFound& row) {
  const TrainingPoint& own = found.own;
  const TrainingPoint& other = row.tried.point;
  std::vector<PartChange> changes;
  const auto add = [&](const std::string& part, Seconds before, Seconds after) {
    changes.push_back({part, (after - before).si()});
  };
  const bool are_explained = own.explanation && other.explanation;
  const std::vector<WaterfallPart> before = are_explained ? own.explanation->waterfall : own.breakdown.parts();
  const std::vector<WaterfallPart> after = are_explained ? other.explanation->waterfall : other.breakdown.parts();
  const bool have_operations = !are_explained && own.exposed && other.exposed;
  for (const WaterfallPart& part : before) {
    const auto same = std::ranges::find(after, part.name, &WaterfallPart::name);
    if (same == after.end() || (part.name == "exposed_communication" && have_operations)) continue;
    add(name_of_part(found, row.choice, part.name), part.time, same->time);
  }
  if (have_operations) {
    add("exposed allgather", own.exposed->allgather, other.exposed->allgather);
    add("exposed reduce-scatter", own.exposed->reduce_scatter, other.exposed->reduce_scatter);
    add("exposed allreduce", own.exposed->allreduce, other.exposed->allreduce);
    const auto part_of = [](const std::optional<Seconds>& time) { return time.value_or(Seconds(0)); };
    add("exposed tensor-parallel", part_of(own.exposed->tensor), part_of(other.exposed->tensor));
    add("exposed experts", part_of(own.exposed->experts), part_of(other.exposed->experts));
    add("exposed pipeline", part_of(own.exposed->pipeline), part_of(other.exposed->pipeline));
  }
  return changes;
}

std::vector<PartChange> memory_changes(const MemoryUse& own, const MemoryUse& other) {
  const auto more = [](Bytes before, Bytes after) { return (after - before).si(); };
  return {{"parameters", more(own.parameters, other.parameters)},
          {"gradients", more(own.gradients, other.gradients)},
          {"optimizer state", more(own.optimizer_state, other.optimizer_state)},
          {"activations", more(own.activations, other.activations)},
          {"buffers", more(own.fusion_buffers, other.fusion_buffers)},
          {"gathered parameters", more(own.gathered, other.gathered)}};
}

/// The largest of them, what shrinks first, that matter beside the sum.
std::vector<PartChange> that_matter(std::vector<PartChange> changes) {
  constexpr double matters = 0.15;
  constexpr std::size_t most = 3;
  double all = 0;
  double less = 0;
  for (const PartChange& change : changes) {
    all += change.more;
    less += std::min(0.0, change.more);
  }
  const double least = matters * std::max(std::abs(all), std::abs(less));
  std::erase_if(changes, [&](const PartChange& change) { return std::abs(change.more) < least || change.more == 0; });
  std::ranges::stable_sort(changes, std::greater{}, [](const PartChange& change) { return std::abs(change.more); });
  if (changes.size() > most) changes.resize(most);
  std::ranges::stable_sort(changes, {}, &PartChange::more);
  return changes;
}

/// Three digits, or all before the point.
std::string signed_number(double value) {
  return std::abs(value) < 1000 ? fmt::format("{:+.3g}", value) : fmt::format("{:+.0f}", value);
}

/// "exposed communication -97.9 ms, compute +2.1 ms; activations -3.2 GB".
std::string why_text(const TuneFound& found, const TuneRowFound& row) {
  std::vector<std::string> steps;
  for (const PartChange& change : that_matter(step_changes(found, row)))
    steps.push_back(fmt::format("{} {} ms", change.part, signed_number(change.more * milliseconds_per_second)));
  std::vector<std::string> bytes;
  const MemoryUse& own = found.own.memory;
  const bool is_less = row.tried.point.memory.total() < own.total() * (1 - 1e-2);
  for (const PartChange& change : that_matter(memory_changes(own, row.tried.point.memory))) {
    if (is_less && change.more < 0)
      bytes.push_back(fmt::format("{} {} GB", change.part, signed_number(change.more / bytes_per_gigabyte)));
  }
  const char* between = steps.empty() || bytes.empty() ? "" : "; ";
  return fmt::format("{}{}{}", fmt::join(steps, ", "), between, fmt::join(bytes, ", "));
}

double gain_of(const TuneFound& found, const TrainingPoint& point) {
  return point.samples_per_second / found.own.samples_per_second - 1;
}

std::size_t runs_of(const TuneFound& found) {
  return static_cast<std::size_t>(
      std::ranges::count_if(found.tried, [](const auto& tried) { return tried.second.outcome == TuneOutcome::ran; }));
}

std::string gigabytes_text(Bytes size) {
  return grouped(size.si() / bytes_per_gigabyte, 1);
}

std::vector<std::string> tune_headline(const TuneFound& found) {
  const TrainingPoint& own = found.own;
  const std::string step =
      fmt::format("{} on {}, {}: a step takes {} ms as it stands", own.model, ranks_text(own.ranks), own.platform,
                  grouped(own.iteration.si() * milliseconds_per_second, 3));
  if (found.settings.empty()) {
    return {step +
            fmt::format(", and tune knows no setting of the strategy \"{}\" that it could change.", own.strategy)};
  }
  const std::string samples =
      fmt::format("All settings keep the {} samples of a step.", counted(found.samples_per_step));
  if (found.best.empty()) {
    return {
        step + fmt::format(", and of {} other choices of settings that were run none is faster or takes less memory.",
                           runs_of(found) - 1),
        samples};
  }
  const TuneRowFound& first = found.best.front();
  const std::string sure = first.faster ? fmt::format(", P(faster) {} %", sure_text(first.faster->sure)) : "";
  return {step + fmt::format("; {} ms ({} samples/s{}) with {}.",
                             grouped(first.tried.point.iteration.si() * milliseconds_per_second, 3),
                             signed_percent(gain_of(found, first.tried.point), 1), sure,
                             joined(words_of(found, first.choice))),
          samples};
}

// ---- tables

std::vector<Cell> tune_cells(const TuneFound& found, const std::string& name, const std::string& words,
                             const TrainingPoint& point, const std::string& sure, const std::string& why) {
  return {Cell(name),
          Cell(words),
          Cell(grouped(point.iteration.si() * milliseconds_per_second, 3)),
          Cell(grouped(point.samples_per_second, 1)),
          Cell(grouped(gain_of(found, point) * 100, 1)),
          Cell(sure),
          Cell(gigabytes_text(point.memory.total())),
          Cell(why)};
}

Grid rows_grid(const TuneFound& found, const std::string& caption, const std::vector<TuneRowFound>& rows,
               std::size_t first) {
  Grid grid{caption,
            {{"row", Align::left},
             {"setting", Align::left},
             {"step (ms)"},
             {"samples/s"},
             {"faster (%)"},
             {"P(faster) (%)"},
             {"memory (GB)"},
             {"what shrinks", Align::left}},
            {}};
  grid.rows.push_back(tune_cells(found, "0", "as it stands", found.own, "", ""));
  for (const TuneRowFound& row : rows) {
    const auto sure =
        row.faster ? std::optional(row.faster->throughput > 1 ? row.faster->sure : 1 - row.faster->sure) : std::nullopt;
    grid.rows.push_back(tune_cells(found, std::to_string(first++), joined(words_of(found, row.choice)), row.tried.point,
                                   sure_text(sure), why_text(found, row)));
  }
  return grid;
}

struct SingleSummary {
  int ran = 0;
  int too_large = 0;
  int others = 0;  // refused, failed, or beyond the budget
  int best = -1;   // -1: none is faster than the scenario
};

const Tried* tried_alone(const TuneFound& found, std::size_t setting, int value) {
  TuneChoice choice = found.as_it_stands();
  choice[setting] = value;
  const auto tried = found.tried.find(choice);
  return tried == found.tried.end() ? nullptr : &tried->second;
}

SingleSummary summary_of(const TuneFound& found, std::size_t setting) {
  SingleSummary summary;
  double least = found.own.iteration.si() * (1 - 1e-6);
  for (int value = 0; value < std::ssize(found.settings[setting].values); ++value) {
    const Tried* tried = tried_alone(found, setting, value);
    const bool ran = tried != nullptr && tried->outcome == TuneOutcome::ran;
    const bool is_too_large = tried != nullptr && tried->outcome == TuneOutcome::does_not_fit;
    ++(ran ? summary.ran : is_too_large ? summary.too_large : summary.others);
    if (!ran || tried->point.iteration.si() >= least) continue;
    least = tried->point.iteration.si();
    summary.best = value;
  }
  return summary;
}

Grid tried_grid(const TuneFound& found) {
  Grid grid{
      "What was tried, one value at a time",
      {{"what", Align::left}, {"values"}, {"do not fit"}, {"not run"}, {"best by itself", Align::left}, {"faster (%)"}},
      {}};
  for (std::size_t setting = 0; setting < found.settings.size(); ++setting) {
    const TuneSetting& row = found.settings[setting];
    const SingleSummary summary = summary_of(found, setting);
    const bool gains = summary.best >= 0;
    const std::string name = row.name + (row.changes_numbers ? " (changes the numbers)" : "");
    grid.rows.push_back(
        {Cell(name), Cell(std::to_string(row.values.size())), Cell(std::to_string(summary.too_large)),
         Cell(std::to_string(summary.others)),
         Cell(gains ? joined({row.values[static_cast<std::size_t>(summary.best)].words}) : "as it stands"),
         Cell(gains ? grouped(gain_of(found, tried_alone(found, setting, summary.best)->point) * 100, 1)
                    : std::string("0.0"))});
  }
  return grid;
}

// ---- records

Record row_record(const TuneFound& found, const TuneRowFound& row) {
  Record settings = Record::array();
  for (std::size_t setting = 0; setting < row.choice.size(); ++setting) {
    if (row.choice[setting] >= 0) settings.push_back(found.settings[setting].name);
  }
  Record shrinks = Record::array();
  for (const PartChange& change : that_matter(step_changes(found, row)))
    shrinks.push_back({{"part", change.part}, {"seconds_more", change.more}});
  Record record{{"setting", joined(words_of(found, row.choice))},
                {"changes", settings},
                {"set", set_record(row.tried.set)},
                {"why", why_text(found, row)},
                {"parts", shrinks}};
  record["p_faster"] =
      row.faster ? Record(row.faster->throughput > 1 ? row.faster->sure : 1 - row.faster->sure) : Record();
  record["point"] = to_record(row.tried.point);
  return record;
}

const char* outcome_text(const Tried* tried) {
  if (tried == nullptr) return "beyond the budget";
  constexpr std::array texts{"ran", "does not fit", "refused", "failed"};
  return texts.at(static_cast<std::size_t>(tried->outcome));
}

Record setting_record(const TuneFound& found, std::size_t setting) {
  Record values = Record::array();
  for (int value = 0; value < std::ssize(found.settings[setting].values); ++value) {
    const TuneValue& known = found.settings[setting].values[static_cast<std::size_t>(value)];
    const Tried* tried = tried_alone(found, setting, value);
    Record record{{"setting", joined({known.words})}, {"outcome", outcome_text(tried)}};
    if (tried != nullptr && tried->outcome == TuneOutcome::ran) {
      record["set"] = set_record(tried->set);
      record["iteration_seconds"] = tried->point.iteration.si();
      record["memory_bytes"] = tried->point.memory.total().si();
    }
    values.push_back(record);
  }
  return {{"name", found.settings[setting].name},
          {"changes_numbers", found.settings[setting].changes_numbers},
          {"values", values}};
}

Record tune_record(const TuneFound& found) {
  Record best = Record::array();
  for (const TuneRowFound& row : found.best) best.push_back(row_record(found, row));
  Record numbers = Record::array();
  for (const TuneRowFound& row : found.numbers) numbers.push_back(row_record(found, row));
  Record settings = Record::array();
  for (std::size_t setting = 0; setting < found.settings.size(); ++setting)
    settings.push_back(setting_record(found, setting));
  return {{"configuration", set_record(found.configuration)},
          {"samples_per_step", found.samples_per_step},
          {"runs", runs_of(found)},
          {"is_cut_short", found.is_cut_short},
          {"own", to_record(found.own)},
          {"best", best},
          {"numbers", numbers},
          {"tried", settings}};
}

/// Bars of samples a second.
Record tune_chart(const TuneFound& found) {
  Record rows = Record::array();
  const auto row = [&](const std::string& name, const TrainingPoint& point) {
    rows.push_back({{"series", name}, {"x", name}, {"y", point.samples_per_second}});
  };
  row("as it stands", found.own);
  for (std::size_t i = 0; i < found.best.size(); ++i) row(fmt::format("row {}", i + 1), found.best[i].tried.point);
  return {{"axis", ""},     {"measure", "samples"}, {"unit", "samples/s"},
          {"share", false}, {"rows", rows},         {"accent", "row 1"}};
}

std::vector<std::string> notes_of(const TuneFound& found) {
  std::vector<std::string> notes;
  if (!found.best.empty()) {
    notes.push_back(
        fmt::format("rows: the fastest first, each in less memory than the one before, of {} that CUDA and NCCL "
                    "leave; none is slower than the scenario; fragmentation takes some of it too",
                    decimal(found.most_memory)));
  }
  if (!found.numbers.empty())
    notes.emplace_back("what changes the numbers of a step may change what a model learns: nothing here says how");
  notes.push_back(
      fmt::format("{} simulations: each value by itself, two by two those that decide the memory, from the scenario "
                  "and the best on, and one setting after another from the best on, twice around, in all memory and "
                  "in less{}",
                  runs_of(found),
                  found.is_cut_short ? "; cut short by --budget, after what runs took on this machine: fewer "
                                       "/measure/iterations leave room for more"
                                     : ""));
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
  return notes;
}

QuestionAnswer tune_answer(const TuneFound& found, const std::string& scenario) {
  QuestionAnswer result{"tune", scenario, tune_headline(found), {}, {}, {}, {}, {}, tune_record(found)};
  if (found.settings.empty()) return result;
  if (!found.best.empty()) {
    result.grids.push_back(rows_grid(found, "Faster, or in less memory", found.best, 1));
    result.chart = Chart{"bars", "settings", "Samples a second, by row"};
    result.drawn = tune_chart(found);
  }
  if (!found.numbers.empty())
    result.grids.push_back(rows_grid(found, "What changes the numbers", found.numbers, found.best.size() + 1));
  result.grids.push_back(tried_grid(found));
  result.notes = notes_of(found);
  if (!found.configuration.empty()) result.options.push_back("all: " + set_options(found.configuration));
  std::size_t number = 0;
  for (const auto* rows : {&found.best, &found.numbers}) {
    for (const TuneRowFound& row : *rows)
      result.options.push_back(fmt::format("{}: {}", ++number, set_options(row.tried.set)));
  }
  return result;
}

void answer_tune(const TuneArguments& arguments) {
  check_forms(arguments.output, arguments.pages);
  Targets files;
  files.reads("the scenario", arguments.scenario.file);
  arguments.output.add_to(files);
  arguments.pages.add_to(files);
  files.check();
  const Catalogue catalogue;
  const TuneFound found = arguments.cost.within(
      arguments.scenario.file, [&] { return tune(arguments.scenario.read(), catalogue, arguments.cost); });
  write_question_answer(tune_answer(found, arguments.scenario.file), arguments.output, arguments.pages);
}

}  // namespace

void add_tune(CLI::App& app) {
  auto arguments = std::make_shared<TuneArguments>();
  arguments->cost.budget = tune_budget;
  CLI::App* command = app.add_subcommand("tune", "Find settings that make a job faster, or let it take less memory");
  arguments->scenario.add_to(*command, "the scenario file; of a sweep, its last configuration counts");
  arguments->cost.add_network_to(*command);
  arguments->cost.add_to(*command);
  arguments->output.add_file_to(*command, "table or json");
  arguments->pages.add_to(*command);
  command->footer("Example:\n  farandole tune scenarios/llama3-8b-fsdp-h100.json");
  command->callback([arguments] { answer_tune(*arguments); });
}

}  // namespace farandole
