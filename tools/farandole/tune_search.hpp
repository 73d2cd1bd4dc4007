// Looks for settings that make a job faster or let it take less memory, of which the samples of a step stay the same.
//
// Called by tune_command.cpp. Every value of every setting is run by itself, then the values of settings that decide
// the memory two by two; from the best of these on one setting after another takes its best value, twice around, for
// the least step in all memory there is and in less. What does not fit or is refused is counted, never a result. What
// the scenario's own settings are is what all is set against; of what changes the numbers of a step nothing is mixed
// into the rest.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cost_options.hpp"
#include "timeline/difference.hpp"
#include "tune_settings.hpp"

namespace farandole {

/// By setting, the place of its value; -1: as the scenario has it.
using TuneChoice = std::vector<int>;

enum class TuneOutcome : char { ran, does_not_fit, refused, failed };

struct Tried {
  TuneOutcome outcome = TuneOutcome::refused;
  TrainingPoint point{};
  std::vector<SetValue> set{};  // what --set takes
};

/// A choice that is worth printing, with its bands.
struct TuneRowFound {
  TuneChoice choice;
  Tried tried;
  std::optional<Difference> faster{};  // than the scenario; empty: not judged
};

struct TuneFound {
  TrainingPoint own;
  Bytes most_memory;  // that a device has for the framework, or what the scenario takes where that is more
  std::vector<TuneSetting> settings;
  std::map<TuneChoice, Tried> tried;
  std::vector<TuneRowFound> best;     // the fastest first, each in less memory than the one before
  std::vector<TuneRowFound> numbers;  // with one value that changes the numbers; the fastest first
  std::vector<std::string> notes;
  std::vector<SetValue> configuration;  // what every run has, as --set takes it
  std::int64_t samples_per_step = 0;
  bool is_cut_short = false;  // by the budget

  [[nodiscard]] TuneChoice as_it_stands() const { return TuneChoice(settings.size(), -1); }
};

TuneFound tune(const Document& document, const Catalogue& catalogue, const CostOptions& cost);

}  // namespace farandole
