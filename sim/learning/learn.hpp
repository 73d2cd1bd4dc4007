// Numeric training: the weights and the loss that a timed run would have reached, epoch by epoch.
//
// Called by scenario/ with what was timed: when weights changed and with whose gradients (training/update_log.hpp). How
// a strategy turns gradients into weights is one of a few rules, picked from a table by kind and mode:
//
//   in step   every update adds up the gradients of all workers' batches, each weighted by its share of the samples,
//             and every worker applies the sum to its own copy of the weights
//   sharded   every worker keeps its part of the weights, gathers all of them for its gradient, and applies to its part
//             what is summed there (learning/exchange.hpp)
//   apart     workers apply their own gradients and average their weights every `period` updates
//   at once   a server applies each worker's gradient as it comes, of weights that are by then `staleness` updates old
//
// Worker w of n owns the w-th n-th of the samples and goes through it in order, `passes` batches to an update. An epoch
// is samples / (batch * passes * workers) updates of each worker; what is left over is not trained on. The loss is that
// of all samples; where workers differ, of the mean of their weights. Plain gradient descent: w -= rate * gradient.
#pragma once

#include <string>

#include "learning/exchange.hpp"
#include "learning/problem.hpp"
#include "timeline/result.hpp"
#include "training/update_log.hpp"

namespace farandole { inline namespace learning {

struct Training {
  const NumericProblem& problem;
  double learning_rate = 0.01;
  int epochs = 1;
  int workers = 1;
  int batch = 1;   // samples of one pass of one worker
  int passes = 1;  // whose gradients add up before they travel
  int period = 1;  // updates from one average of the weights to the next
  Exchange exchange;
  WeightSharding sharding{};  // of workers that keep parts of the weights

  /// Updates of each worker in an epoch; none where there are too few samples for one.
  [[nodiscard]] int updates_per_epoch() const;
};

using LearningRule = Learning (*)(Training& training, const UpdateLog& log);

/// Null where numeric training does not follow this strategy.
LearningRule find_learning_rule(const std::string& strategy, const std::string& mode);

Learning learn_in_step(Training& training, const UpdateLog& log);
Learning learn_apart(Training& training, const UpdateLog& log);
Learning learn_at_once(Training& training, const UpdateLog& log);

}}  // namespace farandole::learning
