// What `farandole tune` may change: rows of settings, their values as --set takes them and as frameworks spell them.
//
// Called by tune_search.cpp. All values keep the samples of a step: a larger micro-batch has fewer passes. Settings
// that change the numbers a step computes (types, compressed gradients, running statistics) say so. What a scenario
// refuses (a release without the variable, a group that does not divide the ranks) is not known here.
#pragma once

#include <string>
#include <vector>

#include "scenario/explain.hpp"

namespace farandole {

/// "DistributedDataParallel(%)" and "bucket_cap_mb=50": words of one form share it, as arguments of one call.
struct FrameworkWords {
  std::string form;  // with % where the text goes
  std::string text;
};

/// In the order of their forms.
std::string joined(const std::vector<FrameworkWords>& words);

struct TuneValue {
  std::vector<SetValue> set;
  FrameworkWords words;
};

struct TuneSetting {
  std::string name;              // "bucket size"
  bool changes_numbers = false;  // of a step
  bool decides_memory = false;   // tried together with others that do
  std::vector<TuneValue> values{};
};

/// Those of the scenario's strategy, and those of all.
std::vector<TuneSetting> tune_settings(const WhatIfBase& base);

/// What is said of the words of a strategy, and of what of it stays as it is; a sentence each.
std::vector<std::string> tune_notes(const WhatIfBase& base);

}  // namespace farandole
