#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibration/posterior.hpp"
#include "calibration/readers/readers.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "platform/platform.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

/// Every run that is predicted has a scenario of its own, which lists those that it is predicted from.
constexpr std::size_t most_runs = 1000;

/// What a run says beside its setting.
struct OwnRun {
  Value where;
  int ranks = 1;
  int batch = 1;
  int accumulation = 1;
};

int whole_at(const Document& scenario, const char* pointer, int otherwise) {
  const auto value = scenario.find(pointer);
  return value ? read_at_least(*value, 1) : otherwise;
}

OwnRun read_own(const Value& where, const Document& scenario, int devices_per_node) {
  Section section(where);
  OwnRun run{where, whole_at(scenario, "/platform/ranks", 1), whole_at(scenario, "/workload/batch_per_rank", 64),
             whole_at(scenario, "/strategy/accumulation", 1)};
  if (const auto nodes = section.maybe("nodes")) {
    run.ranks = read_between(*nodes, 1, most_devices / devices_per_node) * devices_per_node;
  }
  if (const auto ranks = section.maybe("ranks")) run.ranks = read_at_least(*ranks, 1);
  if (const auto batch = section.maybe("batch_per_rank")) run.batch = read_at_least(*batch, 1);
  if (const auto passes = section.maybe("accumulation")) run.accumulation = read_at_least(*passes, 1);
  return run;
}

Seconds measured_step(const OwnRun& run) {
  Section section(run.where);
  const auto rate = section.maybe("samples_per_second");
  const auto seconds = section.maybe("iteration_seconds");
  if (rate.has_value() == seconds.has_value()) run.where.fail("either \"samples_per_second\" or \"iteration_seconds\"");
  const auto number = read_above_zero<double>(rate ? *rate : *seconds);
  return Seconds(rate ? static_cast<double>(run.ranks) * run.batch * run.accumulation / number : number);
}

/// Those on the fewest ranks of each batch that was run on more, too.
std::vector<const OwnRun*> anchors_of(const std::vector<OwnRun>& runs) {
  std::map<int, std::pair<int, int>> ranks_of;  // of a batch: fewest and most
  for (const OwnRun& run : runs) {
    auto& [fewest, most] = ranks_of.try_emplace(run.batch, run.ranks, run.ranks).first->second;
    fewest = std::min(fewest, run.ranks);
    most = std::max(most, run.ranks);
  }
  std::vector<const OwnRun*> anchors;
  for (const OwnRun& run : runs) {
    const auto [fewest, most] = ranks_of.at(run.batch);
    if (run.ranks == fewest && most > fewest) anchors.push_back(&run);
  }
  return anchors;
}

Document with_run(Document scenario, const OwnRun& run, const Node& anchors) {
  scenario.set("/platform/ranks", fmt::format("{}", run.ranks));
  scenario.set("/workload/batch_per_rank", fmt::format("{}", run.batch));
  if (scenario.find("/strategy") && run.accumulation != whole_at(scenario, "/strategy/accumulation", 1))
    scenario.set("/strategy/accumulation", fmt::format("{}", run.accumulation));
  scenario.set("/workload/measured", anchors);
  return scenario;
}

constexpr std::array of_runs{
    "ranks", "nodes", "batch_per_rank", "accumulation", "samples_per_second", "iteration_seconds"};
constexpr std::array of_settings{"model", "variant", "precision", "gradient_type"};

std::string first_word(const std::string& column) {
  return column.substr(0, column.find('_'));
}

/// The only one that begins with the same word, as "batch" and "batch_size" are "batch_per_rank"; else the nearest in
/// spelling.
std::string meant(const std::string& column, const std::vector<std::string>& known) {
  std::vector<std::string> alike = known;
  std::erase_if(alike, [&](const std::string& other) { return first_word(other) != first_word(column); });
  return suggestion(alike.size() == 1 ? alike.front() : column, known);
}

std::vector<std::string> run_columns(const TextLine& line, const std::string& file) {
  std::vector<std::string> columns = cells_of(line.text);
  std::vector<std::string> known(of_runs.begin(), of_runs.end());
  known.insert(known.end(), of_settings.begin(), of_settings.end());
  std::set<std::string> seen;
  for (const std::string& column : columns) {
    if (!seen.insert(column).second) refuse_line(file, line.number, "every column once", quoted(column));
    if (column.starts_with("/") || std::ranges::find(known, column) != known.end()) continue;
    throw InputError({file, line.number, ""}, "a column of runs, or a JSON pointer into the scenario", quoted(column),
                     meant(column, known));
  }
  return columns;
}

Node number_or_text(const std::string& cell, const TextLine& line, const std::shared_ptr<const std::string>& source) {
  const auto number = number_in(cell);
  if (!number) return {cell, line.number, source};
  if (*number == std::floor(*number) && std::abs(*number) < 1e15 && cell.find_first_of(".eE") == std::string::npos)
    return {static_cast<std::int64_t>(*number), line.number, source};
  return {*number, line.number, source};
}

/// The rows of one setting, as `workload.measured` has them.
struct RunSetting {
  std::vector<std::pair<std::string, Node>> settings;
  Node::Array runs;
};

void add_line(const TextLine& line, const std::vector<std::string>& columns,
              const std::shared_ptr<const std::string>& source, std::map<std::string, RunSetting>& groups) {
  const std::vector<std::string> cells = cells_of(line.text);
  if (cells.size() != columns.size()) {
    refuse_line(*source, line.number, fmt::format("{} cells, as the first line has columns", columns.size()),
                fmt::format("{}", cells.size()));
  }
  std::string setting;
  RunSetting own;
  Node::Object run;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    Node value = number_or_text(cells[i], line, source);
    if (std::ranges::find(of_runs, columns[i]) != of_runs.end()) {
      run.push_back({columns[i], std::move(value)});
    } else {
      setting += fmt::format("{}={}\n", columns[i], cells[i]);
      own.settings.emplace_back(columns[i].starts_with("/") ? columns[i] : fmt::format("/workload/{}", columns[i]),
                                std::move(value));
    }
  }
  RunSetting& group = groups.try_emplace(setting, std::move(own)).first->second;
  group.runs.push_back({std::move(run), line.number, source});
}

/// Of runs of one setting those that are to be predicted from the others.
std::vector<TrainingRow> rows_of_setting(const Document& scenario, const std::vector<Value>& values,
                                         int devices_per_node, const std::string& family) {
  const std::vector<OwnRun> runs =
      mapped(values, [&](const Value& value) { return read_own(value, scenario, devices_per_node); });
  if (runs.size() > most_runs) {
    runs[most_runs].where.fail(fmt::format("at most {} runs of one setting", most_runs),
                               fmt::format("{}", runs.size()));
  }
  const std::vector<const OwnRun*> anchors = anchors_of(runs);
  if (anchors.empty()) {
    runs.front().where.fail("runs of one batch on at least two numbers of ranks: the fewest settle what a device takes",
                            fmt::format("{} ranks, batch {} alone", runs.front().ranks, runs.front().batch));
  }
  Node::Array measured;
  for (const OwnRun* anchor : anchors) measured.push_back(anchor->where.node());
  const Node all{std::move(measured), runs.front().where.node().line, runs.front().where.node().source};
  std::vector<TrainingRow> rows;
  for (const OwnRun& run : runs) {
    const Seconds step = measured_step(run);
    if (std::ranges::find(anchors, &run) != anchors.end()) continue;
    rows.push_back({family, "", with_run(scenario, run, all), run.where.place(), step, 0, ""});
  }
  return rows;
}

/// Without what is not the workload itself, and without what says again how many ranks there are.
Document bare(Document scenario) {
  for (const char* part : {"/workload/measured", "/workload/global_batch", "/platform/launch", "/sweep", "/question",
                           "/optimise", "/run", "/economics", "/learning", "/measure/explain"}) {
    scenario.remove(part);
  }
  return scenario;
}

}  // namespace

std::vector<TrainingRow> own_runs(const Document& scenario, int devices_per_node, const std::string& family) {
  const auto measured = scenario.find("/workload/measured");
  if (!measured) scenario.root().fail("a scenario with \"workload\": {\"measured\": [...]}");
  const auto values = measured->elements();
  if (values.empty()) measured->fail("at least one run");
  return rows_of_setting(bare(scenario), values, devices_per_node, family);
}

bool is_run_table(std::string_view text) {
  const auto lines = lines_of(text.substr(0, std::min<std::size_t>(text.size(), 4096)));
  if (lines.empty() || text.front() == '{' || text.front() == '[') return false;
  const auto cells = cells_of(lines.front().text);
  return cells.size() > 1 &&
         (std::ranges::find(cells, "ranks") != cells.end() || std::ranges::find(cells, "nodes") != cells.end());
}

std::vector<TrainingRow> table_runs(const std::string& file, std::string_view text, const Document& scenario,
                                    int devices_per_node, const std::string& family) {
  const auto lines = lines_of(text);
  const auto columns = run_columns(lines.front(), file);
  const auto source = std::make_shared<const std::string>(file);
  std::map<std::string, RunSetting> groups;
  for (std::size_t i = 1; i < lines.size(); ++i) add_line(lines[i], columns, source, groups);
  if (groups.empty()) refuse_line(file, lines.front().number, "at least one run below the names of columns", "none");
  std::vector<TrainingRow> rows;
  for (const auto& [setting, group] : groups) {
    Document base = bare(scenario);
    for (const auto& [pointer, value] : group.settings) base.set(pointer, value);
    const auto values = mapped(group.runs, [](const Node& run) { return Value(run, ""); });
    std::ranges::move(rows_of_setting(base, values, devices_per_node, family), std::back_inserter(rows));
  }
  return rows;
}

}}  // namespace farandole::calibration
