#include "step_log.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/readers/readers.hpp"
#include "command.hpp"
#include "config/section.hpp"
#include "report/table.hpp"

namespace farandole {
namespace {

constexpr std::string_view mlperf_mark = ":::MLLOG";

/// What MLPerf's log says of steps.
struct MlperfSteps {
  std::vector<double> times;                       // s
  std::vector<double> block_times;                 // s for each sample
  std::vector<double> throughputs;                 // samples/s, or tokens/s
  double batch = 0;                                // of all ranks
  std::string benchmark;                           // "llama31_8b"
  double sequence_length = 0;                      // 0: not said
  std::optional<std::pair<double, double>> block;  // when it began (ms), after how many samples
};

std::optional<double> number_of_log(const nlohmann::json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_number()) return std::nullopt;
  return object.at(key).get<double>();
}

void take_mlperf_stats(const nlohmann::json& stats, MlperfSteps& steps) {
  for (const char* key : {"train_step_time", "step_time", "train_step_timing", "train_step_timing in s"}) {
    if (const auto time = number_of_log(stats, key); time && *time > 0) steps.times.push_back(*time);
  }
  if (const auto rate = number_of_log(stats, "throughput"); rate && *rate > 0) steps.throughputs.push_back(*rate);
}

void take_mlperf_event(const nlohmann::json& event, MlperfSteps& steps) {
  const auto named = event.contains("key") ? event.at("key") : nlohmann::json();
  const std::string key = named.is_string() ? named.get<std::string>() : "";
  const auto value = event.contains("value") ? event.at("value") : nlohmann::json();
  const auto time = number_of_log(event, "time_ms");
  const auto samples =
      number_of_log(event.contains("metadata") ? event.at("metadata") : nlohmann::json(), "samples_count");
  if (key == "global_batch_size" && value.is_number()) steps.batch = value.get<double>();
  if (key == "max_sequence_length" && value.is_number()) steps.sequence_length = value.get<double>();
  if (key == "submission_benchmark" && value.is_string()) steps.benchmark = value.get<std::string>();
  if (key == "tracked_stats") take_mlperf_stats(value, steps);
  if (key == "block_start") {
    steps.block.reset();
    if (time && samples) steps.block = {*time, *samples};
  }
  if (key != "block_stop" || !steps.block || !time || !samples) return;
  const auto [began, before] = *steps.block;
  if (*samples > before && *time > began) {
    steps.block_times.push_back((*time - began) / milliseconds_per_second / (*samples - before));
  }
}

/// Samples of most benchmarks; GPT-3's are tokens, by which it is counted, and so may be those of others where a log
/// that tells the length of a sequence does not say whose it is. 0: not known.
double mlperf_numbers_of_a_sample(const MlperfSteps& steps) {
  if (steps.benchmark == "gpt3") return steps.sequence_length;
  return steps.benchmark.empty() && steps.sequence_length > 0 ? 0 : 1;
}

std::vector<double> mlperf_throughput_seconds(const MlperfSteps& steps, const std::string& path) {
  const double each = mlperf_numbers_of_a_sample(steps);
  if (!steps.throughputs.empty() && !(each > 0)) {
    throw InputError(Place{path, 0, ""},
                     steps.benchmark.empty()
                         ? "\"submission_benchmark\", which says whether the throughput is of samples"
                         : "\"max_sequence_length\" beside a throughput of tokens",
                     "none");
  }
  std::vector<double> times;
  for (const double rate : steps.throughputs) times.push_back(steps.batch * each / rate);
  return times;
}

std::vector<double> mlperf_seconds(const std::string& text, const std::string& path) {
  MlperfSteps steps;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto mark = line.find(mlperf_mark);
    if (mark == std::string::npos) continue;
    const auto event = nlohmann::json::parse(line.substr(mark + mlperf_mark.size()), nullptr, false);
    if (!event.is_object()) throw InputError(Place{path, number, ""}, "a JSON object behind :::MLLOG", quoted(line));
    take_mlperf_event(event, steps);
  }
  if (steps.times.empty() && steps.batch > 0) {
    for (const double sample : steps.block_times) steps.times.push_back(sample * steps.batch);
    if (steps.times.empty()) steps.times = mlperf_throughput_seconds(steps, path);
  }
  std::erase_if(steps.times, [](double time) { return !(time > 0) || !std::isfinite(time); });
  if (steps.times.empty()) {
    throw InputError(Place{path, 0, ""},
                     "an MLPerf log with \"train_step_time\", or with \"global_batch_size\" and either blocks between "
                     "\"samples_count\" or \"throughput\"",
                     "none of these");
  }
  return steps.times;
}

/// "_step", and "my-run - _step" of a chart.
std::optional<std::size_t> column_of(const std::vector<std::string>& heads, const std::string& name) {
  const auto found = std::ranges::find_if(
      heads, [&](const std::string& head) { return head == name || head.ends_with(" - " + name); });
  if (found == heads.end()) return std::nullopt;
  return static_cast<std::size_t>(found - heads.begin());
}

/// Nothing where the cell is empty, as W&B leaves those of what was not logged in a step.
std::optional<double> cell_number(const std::vector<std::string>& cells, std::size_t column, const Place& place) {
  if (column >= cells.size() || cells[column].empty() || cells[column] == "NaN") return std::nullopt;
  const auto number = number_in(cells[column]);
  if (!number) throw InputError(place, "a number", quoted(cells[column]));
  return number;
}

std::vector<double> wandb_seconds(const std::string& text, const std::string& path) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto heads = cells_of(line);
  const auto runtime = column_of(heads, "_runtime");
  auto step = column_of(heads, "_step");
  if (!step) step = column_of(heads, "Step");
  if (!runtime || !step) throw InputError(Place{path, 1, ""}, "a column _step or Step beside _runtime", quoted(line));
  std::vector<double> times;
  std::optional<std::pair<double, double>> before;
  for (int number = 2; std::getline(lines, line); ++number) {
    const auto cells = cells_of(line);
    const Place place{path, number, ""};
    const auto at = cell_number(cells, *step, place);
    const auto when = cell_number(cells, *runtime, place);
    if (!at || !when) continue;
    if (before && *at > before->first && *when > before->second) {
      const double time = (*when - before->second) / (*at - before->first);
      if (time > 0 && std::isfinite(time)) times.push_back(time);
    }
    before = {*at, *when};
  }
  if (times.empty()) throw InputError(Place{path, 0, ""}, "two rows with a _step and a later _runtime", "none");
  return times;
}

}  // namespace

bool is_wandb_table(const std::string& text) {
  return column_of(cells_of(text.substr(0, text.find('\n'))), "_runtime").has_value();
}

std::vector<double> step_seconds(const std::string& text, const std::string& path) {
  if (text.find(mlperf_mark) != std::string::npos) return mlperf_seconds(text, path);
  if (is_wandb_table(text)) return wandb_seconds(text, path);
  std::istringstream lines(text);
  std::vector<double> times;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty()) continue;
    const OptionValue time(fmt::format("--steps {}:{}", path, number), line);
    times.push_back(read<Seconds>(time.value()).si());
    if (!(times.back() > 0)) time.value().fail("a time above zero");
  }
  if (times.empty()) refuse_option("--steps", "a file with a time such as 1.2 s on every line", path);
  return times;
}

}  // namespace farandole
