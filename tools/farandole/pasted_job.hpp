// What a launch line, the options of the program in it and a strategy's file say of a job: `farandole new`.
//
// Files of strategies are accelerate's and llm-foundry's YAML and DeepSpeed's JSON. The scenario names them, or
// holds what they say where the launch line overrides some of it, and reads them (training/pasted/); here it is only
// found out what else of the scenario must agree with them. torchtitan's TOML and NeMo's YAML are of a whole job,
// and become the scenario's own keys.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/launch_line.hpp"

namespace farandole {

constexpr const char* of_model_file = "model:";

/// Empty, and 0, where nothing is said.
struct PastedJob {
  std::optional<LaunchLine> line;
  int ranks = 0;
  int ranks_per_node = 0;
  std::string strategy;                                       // its kind
  std::vector<std::pair<std::string, std::string>> settings;  // of the strategy, as JSON
  std::string model;                                          // a name of the catalogue, where it is there
  std::string model_file;                                     // or what a file of it holds
  std::string model_lacks;                                    // or what the line would have to say for that
  std::vector<std::pair<std::string, std::string>> workload;  // members of it that stand nowhere below, as JSON
  std::string precision;
  std::string optimizer;
  std::string recompute;
  int batch = 0;  // of a rank
  int sequence_length = 0;
  /// What an error blames for members of the scenario, by their pointers, and of the model's file by these behind
  /// `of_model_file`: "job.toml:8: /training/seq_len".
  std::map<std::string, std::string> origins;
  std::vector<std::pair<std::string, std::string>> overrides;  // of a file's values, by pointer, as JSON
  std::vector<std::string> unused;
};

/// Whether `--strategy` names a file.
bool is_strategy_file(const std::string& strategy);

/// `launch`: the line itself, or empty; `strategy`: a kind, a file, or empty; `ranks`: where one number is known that
/// the line need not say, else 0; `model`: likewise, or empty. InputError for what contradicts itself or cannot be
/// read.
PastedJob pasted_job(const std::string& launch, const std::string& strategy, int ranks, const std::string& model);

/// A job configuration of torchtitan: what is not simulated is refused, what is simulated otherwise is unused.
void take_torchtitan(PastedJob& job, const Document& document);

class JobOptions;
/// What NeMo's configuration of a Megatron model says, in arguments of Megatron-LM.
JobOptions nemo_options(PastedJob& job, const Document& document);
/// Arguments of Megatron-LM. InputError for what is not simulated.
void take_megatron(PastedJob& job, JobOptions& options);

/// What was said first stays.
template <class T>
void take_first(T& said, const T& value) {
  if (said == T{}) said = value;
}
/// And who said it: `pointer` is into the scenario.
template <class T>
void take_first(PastedJob& job, T& said, const T& value, const char* pointer, const std::string& where) {
  if (said != T{} || value == T{}) return;
  said = value;
  job.origins[pointer] = where;
}
void add_setting(PastedJob& job, const std::string& key, const std::string& json, const std::string& where = {});
/// What an error blames for a value: "job.toml:8: /training/seq_len".
std::string where_of(const Value& value);
/// What a class of an optimizer is called in a scenario; empty for others than Adam's, SGD and Lamb.
std::string optimizer_named(const std::string& name);

/// What `--launch` says: the line itself, or what a file of that name holds.
std::string launch_text(const std::string& said);

}  // namespace farandole
