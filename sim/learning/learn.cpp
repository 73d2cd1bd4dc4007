#include "learning/learn.hpp"

#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "config/error.hpp"
#include "simulate/invariant.hpp"

namespace farandole { inline namespace learning {
namespace {

/// The mean gradient of the worker's samples in its update-th update, counted through all epochs.
Vector gradient_of(const Training& training, const Vector& weights, int worker, int update) {
  const Eigen::Index share = training.problem.features.rows() / training.workers;
  const Eigen::Index of_an_update = Eigen::Index{training.batch} * training.passes;
  const Eigen::Index begin = share * worker + of_an_update * (update % training.updates_per_epoch());
  Vector sum = Vector::Zero(weights.size());
  for (int pass = 0; pass < training.passes; ++pass) {
    sum += training.problem.gradient(training.problem, weights, {begin + pass * training.batch, training.batch});
  }
  return sum / training.passes;
}

Vector mean_of(const std::vector<Vector>& weights) {
  Vector sum = weights.front();
  for (std::size_t worker = 1; worker < weights.size(); ++worker) sum += weights[worker];
  return sum / static_cast<double>(weights.size());
}

double loss_of(const Training& training, const Vector& weights) {
  const double value = training.problem.loss(training.problem, weights, training.problem.all());
  if (std::isfinite(value)) return value;
  throw InputError(fmt::format("/learning/learning_rate: expected a rate at which training does not diverge, got {}",
                               training.learning_rate));
}

/// All workers have applied the same sums, so they must hold the same weights.
void expect_equal(const std::vector<Vector>& weights) {
  for (const Vector& others : weights) {
    if ((others - weights.front()).norm() <= 1e-6 * (1 + weights.front().norm())) continue;
    throw InvariantError("workers that train in step hold different weights");
  }
}

/// Of every worker in an update, over their number: the sum of them is the mean.
std::vector<Vector> gradients_of(const Training& training, const std::vector<Vector>& weights, int update) {
  std::vector<Vector> gradients;
  for (int worker = 0; worker < training.workers; ++worker) {
    const Vector& own = weights[static_cast<std::size_t>(worker)];
    gradients.emplace_back(gradient_of(training, own, worker, update) / training.workers);
  }
  return gradients;
}

/// `step` carries out one update after the other; what becomes of `weights()` is noted at the end of every epoch.
template <class Step, class Weights>
Learning learn(const Training& training, const UpdateLog& log, int per_epoch, Step step, Weights weights) {
  const int count = per_epoch * training.epochs;
  if (static_cast<int>(log.size()) < count)
    throw InvariantError(fmt::format("numeric training needs {} updates, the timed run has {}", count, log.size()));
  Learning learning;
  learning.start_loss = loss_of(training, training.problem.start);
  for (int update = 0; update < count; ++update) {
    step(update);
    if ((update + 1) % per_epoch != 0) continue;
    learning.loss.push_back(loss_of(training, weights()));
    learning.seconds.push_back(log[static_cast<std::size_t>(update)].at);
  }
  const Vector last = weights();
  learning.weights.assign(last.begin(), last.end());
  return learning;
}

}  // namespace

int Training::updates_per_epoch() const {
  const std::int64_t samples_of_an_update = std::int64_t{batch} * passes * workers;
  return static_cast<int>(problem.features.rows() / samples_of_an_update);
}

Learning learn_in_step(Training& training, const UpdateLog& log) {
  std::vector<Vector> weights(static_cast<std::size_t>(training.workers), training.problem.start);
  const auto step = [&](int update) {
    std::vector<Vector> gradients = gradients_of(training, weights, update);
    training.exchange.sum(gradients);
    for (std::size_t worker = 0; worker < weights.size(); ++worker) {
      weights[worker] -= training.learning_rate * gradients[worker];
    }
  };
  Learning learning = learn(training, log, training.updates_per_epoch(), step, [&] { return weights.front(); });
  expect_equal(weights);
  return learning;
}

static Learning learn_sharded(Training& training, const UpdateLog& log) {
  Shards shards(training.sharding, training.workers, training.problem.start);
  const auto step = [&](int update) {
    const std::vector<Vector> weights = shards.gathered();
    expect_equal(weights);
    shards.descend(training.learning_rate, gradients_of(training, weights, update));
  };
  return learn(training, log, training.updates_per_epoch(), step, [&] { return shards.kept(); });
}

Learning learn_apart(Training& training, const UpdateLog& log) {
  std::vector<Vector> weights(static_cast<std::size_t>(training.workers), training.problem.start);
  const auto step = [&](int update) {
    for (int worker = 0; worker < training.workers; ++worker) {
      Vector& own = weights[static_cast<std::size_t>(worker)];
      own -= training.learning_rate * gradient_of(training, own, worker, update);
    }
    if ((update + 1) % training.period != 0) return;
    training.exchange.sum(weights);
    for (Vector& own : weights) own /= training.workers;
  };
  return learn(training, log, training.updates_per_epoch(), step, [&] { return mean_of(weights); });
}

Learning learn_at_once(Training& training, const UpdateLog& log) {
  std::vector<Vector> versions{training.problem.start};
  std::vector<int> pushed(static_cast<std::size_t>(training.workers), 0);
  const auto step = [&](int update) {
    const Update& entry = log[static_cast<std::size_t>(update)];
    const Vector& seen = versions.at(static_cast<std::size_t>(entry.seen));
    const Vector gradient = gradient_of(training, seen, entry.rank, pushed.at(static_cast<std::size_t>(entry.rank))++);
    versions.emplace_back(versions.back() - training.learning_rate * gradient);
  };
  return learn(training, log, training.updates_per_epoch() * training.workers, step, [&] { return versions.back(); });
}

LearningRule find_learning_rule(const std::string& strategy, const std::string& mode) {
  static const std::map<std::pair<std::string, std::string>, LearningRule> rules{
      {{"horovod", "synchronous"}, learn_in_step},
      {{"ddp", "synchronous"}, learn_in_step},
      {{"allgather", "synchronous"}, learn_in_step},
      {{"fsdp", "synchronous"}, learn_sharded},
      {{"zero", "synchronous"}, learn_sharded},
      {{"single", "synchronous"}, learn_in_step},
      {{"parameter_server", "synchronous"}, learn_in_step},
      {{"distributed_replicated", "synchronous"}, learn_in_step},
      {{"parameter_server", "asynchronous"}, learn_at_once},
      {{"parameter_server", "stale_synchronous"}, learn_at_once},
      {{"local_sgd", "synchronous"}, learn_apart},
  };
  const auto found = rules.find({strategy, mode});
  return found == rules.end() ? nullptr : found->second;
}

}}  // namespace farandole::learning
