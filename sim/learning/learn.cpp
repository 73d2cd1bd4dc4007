#include "learning/learn.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "config/error.hpp"
#include "simulate/invariant.hpp"

namespace farandole { inline namespace learning {
namespace {

int count_per_epoch(const Training& training) {
  return training.updates_per_epoch() * training.epochs;
}

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

/// What becomes of the weights, noted at the end of every epoch.
class Notes {
 public:
  explicit Notes(const Training& training) : training_(training) {
    learning_.start_loss = loss(training.problem.start);
  }
  void end_of_epoch(const Vector& weights, Seconds at) {
    learning_.loss.push_back(loss(weights));
    learning_.seconds.push_back(at);
  }
  Learning finish(const Vector& weights) {
    learning_.weights.assign(weights.begin(), weights.end());
    return std::move(learning_);
  }

 private:
  [[nodiscard]] double loss(const Vector& weights) const {
    const double value = training_.problem.loss(training_.problem, weights, training_.problem.all());
    if (std::isfinite(value)) return value;
    throw InputError(fmt::format("/learning/learning_rate: expected a rate at which training does not diverge, got {}",
                                 training_.learning_rate));
  }

  const Training& training_;
  Learning learning_;
};

void expect_entries(const UpdateLog& log, int count) {
  if (static_cast<int>(log.size()) >= count) return;
  throw InvariantError(fmt::format("numeric training needs {} updates, the timed run has {}", count, log.size()));
}

/// All workers have applied the same sums, so they must hold the same weights.
void expect_equal(const std::vector<Vector>& weights) {
  for (const Vector& others : weights) {
    if ((others - weights.front()).norm() <= 1e-6 * (1 + weights.front().norm())) continue;
    throw InvariantError("workers that train in step hold different weights");
  }
}

}  // namespace

int Training::updates_per_epoch() const {
  const std::int64_t samples_of_an_update = std::int64_t{batch} * passes * workers;
  return static_cast<int>(problem.features.rows() / samples_of_an_update);
}

Learning learn_in_step(Training& training, const UpdateLog& log) {
  expect_entries(log, count_per_epoch(training));
  std::vector<Vector> weights(static_cast<std::size_t>(training.workers), training.problem.start);
  Notes notes(training);
  for (int update = 0; update < count_per_epoch(training); ++update) {
    std::vector<Vector> gradients;
    for (int worker = 0; worker < training.workers; ++worker) {
      const Vector& own = weights[static_cast<std::size_t>(worker)];
      gradients.emplace_back(gradient_of(training, own, worker, update) / training.workers);
    }
    training.exchange.sum(gradients);
    for (std::size_t worker = 0; worker < weights.size(); ++worker) {
      weights[worker] -= training.learning_rate * gradients[worker];
    }
    if ((update + 1) % training.updates_per_epoch() != 0) continue;
    notes.end_of_epoch(weights.front(), log[static_cast<std::size_t>(update)].at);
  }
  expect_equal(weights);
  return notes.finish(weights.front());
}

static Learning learn_sharded(Training& training, const UpdateLog& log) {
  expect_entries(log, count_per_epoch(training));
  Shards shards(training.sharding, training.workers, training.problem.start);
  Notes notes(training);
  for (int update = 0; update < count_per_epoch(training); ++update) {
    const std::vector<Vector> weights = shards.gathered();
    expect_equal(weights);
    std::vector<Vector> gradients;
    for (int worker = 0; worker < training.workers; ++worker) {
      const Vector& own = weights[static_cast<std::size_t>(worker)];
      gradients.emplace_back(gradient_of(training, own, worker, update) / training.workers);
    }
    shards.descend(training.learning_rate, gradients);
    if ((update + 1) % training.updates_per_epoch() != 0) continue;
    notes.end_of_epoch(shards.kept(), log[static_cast<std::size_t>(update)].at);
  }
  return notes.finish(shards.kept());
}

Learning learn_apart(Training& training, const UpdateLog& log) {
  expect_entries(log, count_per_epoch(training));
  std::vector<Vector> weights(static_cast<std::size_t>(training.workers), training.problem.start);
  Notes notes(training);
  for (int update = 0; update < count_per_epoch(training); ++update) {
    for (int worker = 0; worker < training.workers; ++worker) {
      Vector& own = weights[static_cast<std::size_t>(worker)];
      own -= training.learning_rate * gradient_of(training, own, worker, update);
    }
    if ((update + 1) % training.period == 0) {
      training.exchange.sum(weights);
      for (Vector& own : weights) own /= training.workers;
    }
    if ((update + 1) % training.updates_per_epoch() != 0) continue;
    notes.end_of_epoch(mean_of(weights), log[static_cast<std::size_t>(update)].at);
  }
  return notes.finish(mean_of(weights));
}

Learning learn_at_once(Training& training, const UpdateLog& log) {
  const int count = count_per_epoch(training) * training.workers;
  expect_entries(log, count);
  std::vector<Vector> versions{training.problem.start};
  std::vector<int> pushed(static_cast<std::size_t>(training.workers), 0);
  Notes notes(training);
  for (int update = 0; update < count; ++update) {
    const Update& entry = log[static_cast<std::size_t>(update)];
    const Vector& seen = versions.at(static_cast<std::size_t>(entry.seen));
    const Vector gradient = gradient_of(training, seen, entry.rank, pushed.at(static_cast<std::size_t>(entry.rank))++);
    versions.emplace_back(versions.back() - training.learning_rate * gradient);
    if ((update + 1) % (training.updates_per_epoch() * training.workers) != 0) continue;
    notes.end_of_epoch(versions.back(), entry.at);
  }
  return notes.finish(versions.back());
}

const LearningRuleRow* find_learning_rule(const std::string& strategy, const std::string& mode) {
  static const std::array<LearningRuleRow, 11> rows{{
      {"horovod", "synchronous", learn_in_step},
      {"ddp", "synchronous", learn_in_step},
      {"allgather", "synchronous", learn_in_step},
      {"fsdp", "synchronous", learn_sharded},
      {"zero", "synchronous", learn_sharded},
      {"single", "synchronous", learn_in_step},
      {"parameter_server", "synchronous", learn_in_step},
      {"distributed_replicated", "synchronous", learn_in_step},
      {"parameter_server", "asynchronous", learn_at_once},
      {"parameter_server", "stale_synchronous", learn_at_once},
      {"local_sgd", "synchronous", learn_apart},
  }};
  for (const LearningRuleRow& row : rows) {
    if (row.strategy == strategy && row.mode == mode) return &row;
  }
  return nullptr;
}

}}  // namespace farandole::learning
