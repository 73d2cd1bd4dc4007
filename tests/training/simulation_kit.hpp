// A job on a simulator of its own, for strategies that are tried one by one.
#pragma once

#include <vector>

#include "simulate/max_min_network.hpp"
#include "training/trainer.hpp"
#include "training/training_run.hpp"

namespace farandole::test {

/// All collectives by one clock, or those that meet in company.
class Simulation {
 public:
  Simulation(const Job& job, const Variability& variability, Strategy& strategy, CollectiveClock& clock, int ranks,
             Seconds launch, Timeline* timeline)
      : simulator_(std::make_unique<MaxMinNetwork>()),
        trainer_(simulator_, site(clock, ranks, launch, asked), job, variability, strategy, timeline) {}

  Iteration run_iteration() { return trainer_.run_iteration(); }
  Trainer& trainer() { return trainer_; }

  std::vector<Collective> asked;  // of whom the clock was asked for, in order

 private:
  static JobSite site(CollectiveClock& clock, int ranks, Seconds launch, std::vector<Collective>& asked) {
    JobSite site;
    site.ranks = ranks;
    site.launch = launch;
    site.clock_of = [&](const Collective& collective) -> CollectiveClock& {
      asked.push_back(collective);
      return clock;
    };
    return site;
  }
  Simulator simulator_;
  Trainer trainer_;
};

}  // namespace farandole::test
