// A whole training run, worked out from its iterations: how long it takes and what it is worth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole::inline timeline {

struct WholeRun {
  std::int64_t samples = 0;  // of the training set
  int epochs = 1;
  std::int64_t global_batch = 0;
  std::int64_t steps_per_epoch = 0;
  double distinct_share = 1;  // of the set that an epoch shows
  Seconds startup;            // once: launching, and the first broadcast of the parameters
  Seconds epoch;              // steps, metrics, evaluation and checkpoints
  Seconds evaluation;         // per epoch in the mean
  Seconds total;              // mean over seeds of failures
  Seconds total_p50;
  Seconds total_p95;
  double failures = 0;  // in the mean
  double goodput = 1;   // share of the total that is training done for good
  double samples_per_second = 0;
  double learning_rate = 0;  // after scaling; 0 where none is stated
  double warmup_epochs = 0;
  std::vector<std::string> caveats;

  static void fields(auto& run, auto& visit) {
    visit("samples", run.samples);
    visit("epochs", run.epochs);
    visit("global_batch", run.global_batch);
    visit("steps_per_epoch", run.steps_per_epoch, {.column = "steps/epoch"});
    visit("distinct_share", run.distinct_share);
    visit("startup_seconds", run.startup);
    visit("epoch_seconds", run.epoch, {.column = "epoch (s)", .decimals = 3});
    visit("evaluation_seconds", run.evaluation);
    visit("total_seconds", run.total, {.column = "hours", .decimals = 3, .unit = FigureUnit::hours});
    visit("total_seconds_p50", run.total_p50);
    visit("total_seconds_p95", run.total_p95, {.column = "p95 (hours)", .decimals = 3, .unit = FigureUnit::hours});
    visit.derived("hours", run.total / 3600_s);
    visit("failures", run.failures, {.column = "failures"});
    visit("goodput", run.goodput, {.column = "goodput (%)", .unit = FigureUnit::percent});
    visit("samples_per_second", run.samples_per_second);
    visit("learning_rate", run.learning_rate);
    visit("warmup_epochs", run.warmup_epochs);
    visit("caveats", run.caveats);
  }
};

}  // namespace farandole::inline timeline
