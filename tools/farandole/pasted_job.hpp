// What a launch line, the options of the program in it and a strategy's file say of a job: `farandole new`.
//
// Files of strategies are accelerate's and llm-foundry's YAML and DeepSpeed's JSON. The scenario names them, or
// holds what they say where the launch line overrides some of it, and reads them (training/pasted/); here it is only
// found out what else of the scenario must agree with them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/launch_line.hpp"

namespace farandole {

/// Empty, and 0, where nothing is said.
struct PastedJob {
  std::optional<LaunchLine> line;
  int ranks = 0;
  int ranks_per_node = 0;
  std::string strategy;                                       // its kind
  std::vector<std::pair<std::string, std::string>> settings;  // of the strategy, as JSON
  std::string precision;
  std::string optimizer;
  std::string recompute;
  int batch = 0;  // of a rank
  int sequence_length = 0;
  std::vector<std::string> unused;
};

/// Whether `--strategy` names a file.
bool is_strategy_file(const std::string& strategy);

/// `launch`: the line itself, or empty; `strategy`: a kind, a file, or empty. InputError for what contradicts itself or
/// cannot be read.
PastedJob pasted_job(const std::string& launch, const std::string& strategy);

/// What `--launch` says: the line itself, or what a file of that name holds.
std::string launch_text(const std::string& said);

}  // namespace farandole
