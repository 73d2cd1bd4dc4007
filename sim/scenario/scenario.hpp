// A scenario: workload, platform, strategy, effects and how to measure, as typed values.
//
// One scenario file describes one configuration or, with "sweep", many; this is one of them, with every default filled
// in. Reading is strict (config/section.hpp); what needs the catalogue (models, topologies) is resolved while reading,
// so that every mistake is reported with its place before anything runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/algorithms.hpp"
#include "learning/problem.hpp"
#include "platform/calibration_record.hpp"
#include "platform/network_scale.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/economics_run.hpp"
#include "scenario/effects_spec.hpp"
#include "scenario/library_choice.hpp"
#include "scenario/run_spec.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/fidelity.hpp"
#include "training/memory.hpp"
#include "training/strategies/catalogue.hpp"
#include "training/training_run.hpp"
#include "workload/compute_time.hpp"

namespace farandole { inline namespace scenario {

/// A run of a scenario's workload that was measured.
struct AnchorRun {
  int ranks = 1;
  int batch = 1;         // of a rank, of a pass
  int accumulation = 1;  // passes of a step
  Seconds iteration;
};

struct WorkloadSpec {
  Model model;
  std::optional<Model> part;      // that one rank has, where several train a copy together; empty: all of it
  StagedModel staged{};           // of that what the stages of a pipeline have; without stages: there are none
  std::vector<Profile> profiles;  // layer times of that model; those of the platform's device are used
  int batch_per_rank = 64;
  Precision precision = Precision::fp32;
  std::optional<Normalisation> normalisation{};  // empty: as what is known of the device has it
  bool compiled = false;                         // by torch.compile
  GradientType gradient_type = GradientType::fp32;
  std::optional<GradientType> parameter_type;  // empty: as gradients and precision have it (training/memory.hpp)
  GradientType optimizer_state_type = GradientType::fp32;
  Recompute recompute = Recompute::none;
  std::optional<double> assumed_efficiency;  // instead of the device's
  std::optional<Seconds> host_dispatch;      // empty: the host does not run ahead of the device
  std::vector<DeviceStep> device_steps;      // known of this model on this device, without what is recomputed
  double compute_stretch = 1;                // of all compute times: an end of their band
  std::string anchored_on;                   // the measured runs they were inferred from; empty: they were given
  std::vector<AnchorRun> anchors{};          // the same as numbers
  TimeBand carried;                          // of steps that were inferred on another device or in another precision
  Optimizer optimizer{"momentum", 1};
  int global_batch = 0;  // shared by all ranks, as strong scaling has it; 0: every rank has its batch

  [[nodiscard]] const Model& of_rank() const { return part ? *part : model; }
};

struct PlatformSpec {
  Platform platform;
  Condition condition;  // that the platform was built with
  NetworkScale scale;   // the same
  std::optional<CalibrationRecord> calibration;
  Device device;
  Placement placement;
  int ranks = 1;
};

/// What an explanation changes to see what it costs; everything as it is by default.
struct Mechanisms {
  double network_rate = 1;  // of links, single connections, servers and adding up, and of a library's own rates
  double latency = 1;       // of links, the transport's messages, launches and a library's own latencies
  double copy_rate = 1;     // into and out of fusion buffers
  double server_rate = 1;   // at which servers add gradients up and update variables
  bool contention = true;
};

struct LearningSpec {
  std::string kind;
  NumericProblem problem;
  double learning_rate = 0.01;
  int epochs = 1;
};

struct Scenario {
  std::string name;
  WorkloadSpec workload;
  PlatformSpec platform;
  StrategyChoice strategy;
  std::map<Operation, Algorithm> collectives;  // by which algorithm; of every operation a strategy may ask for
  std::map<Operation, LibraryUse> libraries;   // of those where the algorithm is a library
  /// Of those that nobody chose, why they are not by the library that the topology names.
  std::map<Operation, std::string> plain_by_default;
  EffectsSpec effects;
  TrafficSpec traffic;
  std::optional<RunSpec> run;
  std::optional<EconomicsSpec> economics;
  Mechanisms mechanisms;
  std::shared_ptr<const LearningSpec> learning;  // null: nothing is trained on numbers
  Measure measure;
  std::uint64_t seed = 1;
  int seeds = 1;  // runs with `seed`, seed + 1, ..., taken together
  Fidelity fidelity = Fidelity::flow;
  FoldingPolicy folding = FoldingPolicy::where_exact;
  NetworkSolver network = NetworkSolver::as_it_pays;
  bool explain = false;
  bool bands = true;                 // of points whose compute times are uncertain
  int busiest_links = 0;             // how many of them a point lists
  std::vector<std::string> ignored;  // what was pasted and has no meaning here

  /// Copies of the model that are trained on data of their own.
  [[nodiscard]] int replicas() const { return platform.ranks / strategy.replica(); }
  /// Samples of one step of all ranks.
  [[nodiscard]] std::int64_t samples_per_step() const {
    return std::int64_t{replicas()} * workload.batch_per_rank * strategy.accumulation;
  }
};

/// `where` is the root of a scenario document without "sweep" (scenario/sweep.hpp).
Scenario read_scenario(const Value& where, const Catalogue& catalogue);

}}  // namespace farandole::scenario
