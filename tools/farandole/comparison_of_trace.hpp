// A measured trace beside the prediction for its scenario, part by part of the step.
//
// Made and shown by compare_command.cpp. Both sides are accounted by the same rule (step_account.hpp), and told apart
// only as far as the trace does. Where that has kernels, the predicted computation is divided by the model's layers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "scenario/run.hpp"
#include "step_account.hpp"
#include "trace_reader.hpp"

namespace farandole {

struct ComparedPart {
  std::string name;
  double measured = 0;
  double predicted = 0;
  std::string points_at{};  // a sentence; empty where the two agree

  [[nodiscard]] double difference() const { return measured - predicted; }
};

/// From the time at the peak of the device to the step.
struct PeakShare {
  std::string name;
  double measured = 0;
  double predicted = 0;
};

struct TraceComparison {
  std::vector<DeviceTrace> traces;
  std::vector<std::vector<StepWindow>> windows;  // of each
  std::vector<StepAccount> accounts;
  std::size_t slowest = 0;  // what the others wait for
  TraceDetail detail = TraceDetail::kernels;
  DeviceTrace predicted;
  std::vector<StepWindow> predicted_windows;
  StepAccount expected;
  TrainingPoint point;
  std::vector<std::string> notes;   // on what the prediction does not see
  std::vector<ComparedPart> parts;  // the largest difference first
  std::vector<PeakShare> peak;      // empty where it is not known

  [[nodiscard]] const DeviceTrace& measured() const { return traces[slowest]; }
  [[nodiscard]] const StepAccount& account() const { return accounts[slowest]; }
};

struct ComparedRun {
  const Document& document;  // without a sweep
  const Catalogue& catalogue;
  RunOptions options;
};

/// `steps`: of a trace that marks none. InputError where it does.
TraceComparison compare_traces(std::vector<DeviceTrace> traces, const ComparedRun& run, std::optional<int> steps);

}  // namespace farandole
