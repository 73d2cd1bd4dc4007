// A whole training run, worked out from its iterations: how long it takes and what it is worth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

/// Where the time of a whole run went; they sum to 1.
struct RunShares {
  double training = 1;    // done for good
  double evaluation = 0;  // and metrics
  double startup = 0;
  double checkpoint = 0;  // waiting for them
  double lost = 0;        // done again after a failure
  double restart = 0;     // until training goes on; elastic: resets, and waiting for enough nodes
  double standby = 0;     // waiting for a node to be repaired; elastic: what missing nodes would have done

  static void fields(auto& shares, auto& visit) {
    visit("training", shares.training, {.column = "goodput", .unit = FigureUnit::percent});
    visit("evaluation", shares.evaluation, {.column = "evaluation", .unit = FigureUnit::percent});
    visit("startup", shares.startup, {.column = "startup", .unit = FigureUnit::percent});
    visit("checkpoint", shares.checkpoint, {.column = "checkpoints", .unit = FigureUnit::percent});
    visit("lost", shares.lost, {.column = "lost work", .unit = FigureUnit::percent});
    visit("restart", shares.restart, {.column = "restarts", .unit = FigureUnit::percent});
    visit("standby", shares.standby, {.column = "standby", .unit = FigureUnit::percent});
  }
};

struct WholeRun {
  std::int64_t samples = 0;  // of the training set
  int epochs = 1;
  std::int64_t global_batch = 0;
  std::int64_t steps_per_epoch = 0;
  double distinct_share = 1;           // of the set that an epoch shows
  Seconds startup;                     // once: launching, and the first broadcast of the parameters
  Seconds epoch;                       // steps, metrics, evaluation and checkpoints
  Seconds evaluation;                  // per epoch in the mean
  Seconds total;                       // the expectation; of elastic runs the mean over seeds of failures
  std::optional<Seconds> total_p50{};  // over seeds of failures; empty where there would be too many of these
  std::optional<Seconds> total_p95{};
  double failures = 0;  // in the mean
  double goodput = 1;   // share of the total that is training done for good
  RunShares shares{};
  std::optional<Seconds> mtbf{};                 // of the job, where anything fails
  std::optional<Seconds> checkpoint_interval{};  // of training; where there are checkpoints
  std::optional<Seconds> best_interval{};        // with these failures
  std::optional<double> best_goodput{};          // with that
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
    visit("shares", run.shares);
    visit("mtbf_seconds", run.mtbf);
    visit("checkpoint_interval_seconds", run.checkpoint_interval);
    visit("best_checkpoint_interval_seconds", run.best_interval);
    visit("best_goodput", run.best_goodput);
    visit("samples_per_second", run.samples_per_second);
    visit("learning_rate", run.learning_rate);
    visit("warmup_epochs", run.warmup_epochs);
    visit("caveats", run.caveats);
  }
};

}}  // namespace farandole::timeline
