// For tests of strategies: a network and a job on which every moment can be worked out by hand.
#pragma once

#include <vector>

#include "training/simulation_kit.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole::test {

/// A network on which every allreduce takes a second per byte, whoever joins when: all end together.
class SecondPerByte final : public CollectiveClock {
 public:
  Answer answer(Bytes size, const RankTimes& start) override {
    sizes.push_back(size);
    return {RankTimes::Constant(start.size(), start.maxCoeff() + size.si()), {}};
  }
  std::vector<Bytes> sizes;
};

/// Three gradients of 2, 3 and 4 bytes, ready after 10, 20 and 30 s and announced then; no update.
inline Job three_gradients() {
  return {{{"c", 2_B, 10_s, 10_s}, {"b", 3_B, 20_s, 20_s}, {"a", 4_B, 30_s, 30_s}}, 30_s, 0_s};
}

/// A strategy of the catalogue as a scenario's text describes it, for that many ranks of infinitely fast memory.
class StrategyBench {
 public:
  StrategyBench(Job job_, int ranks, const std::string& text, Timeline* timeline = nullptr,
                BytesPerSecond memory = BytesPerSecond::infinity())
      : job(std::move(job_)),
        variability(ranks, 0, 0, 1),
        document_(Document::parse(text, "strategy.json")),
        choice(read_strategy(document_.root(), {}, ranks)),
        strategy(choice.make({job, ranks, 1, memory, {memory}, 0_s, "NCCL", 1, timeline})),
        simulation(job, variability, *strategy, clock, ranks, 0_s, timeline) {
    if (choice.hooks && ranks > 1) job = hooked(job, *choice.hooks, {memory});
  }

  /// Of the second one: the first iteration may be of another kind.
  Iteration second_iteration() {
    simulation.run_iteration();
    clock.sizes.clear();
    return simulation.run_iteration();
  }

  Job job;
  Variability variability;
  SecondPerByte clock;

 private:
  Document document_;

 public:
  StrategyChoice choice;
  std::unique_ptr<Strategy> strategy;
  Simulation simulation;
};

}  // namespace farandole::test
