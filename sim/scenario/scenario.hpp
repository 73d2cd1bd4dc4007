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
#include "config/section.hpp"
#include "learning/problem.hpp"
#include "platform/network_scale.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "platform/topology.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/economics_run.hpp"
#include "scenario/library_choice.hpp"
#include "scenario/read_distribution.hpp"
#include "simulate/collective_clock.hpp"
#include "simulate/fidelity.hpp"
#include "training/effects/distribution.hpp"
#include "training/effects/failures.hpp"
#include "training/effects/input_pipeline.hpp"
#include "training/memory.hpp"
#include "training/strategies/catalogue.hpp"
#include "training/training_run.hpp"
#include "units/quantity.hpp"
#include "workload/compute_time.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace scenario {

// What a scenario's "effects" section says: everything that makes a run less than ideal, each off unless it is named.
//
// Read by scenario/read_parts.hpp, applied by scenario/apply_effects.hpp. Ranks and nodes beyond the run's size are
// simply not in it, so that one file can be swept over numbers of ranks.

struct Straggler {
  std::vector<int> ranks;
  double slowdown = 0;  // 0.1: ten percent more time
};

/// Some ranks sit on other devices, or on devices that run at another speed.
struct OtherDevice {
  std::vector<int> ranks;
  std::vector<int> nodes;
  double speed = 1;              // relative to the platform's device
  std::optional<Device> device;  // instead of a speed
};

struct SlowLink {
  std::vector<int> nodes;  // their NICs
  std::string links;       // or every link whose name starts so
  double rate = 1;         // what is left of the rate
  Seconds added_latency;
};

struct EffectsSpec {
  double device_spread = 0;
  Distribution step_jitter;
  std::vector<Straggler> stragglers;
  std::vector<OtherDevice> other_devices;
  std::vector<SlowLink> slow_links;
  std::optional<OsNoise> os_noise;
  double communication_compute_share = 0;
  double board_slowdown = 0;  // of a device whose neighbour on the board computes too
  std::optional<InputSupply> input;
  std::optional<Checkpoint> checkpoint;  // its size is 0 where the file does not say

  /// By chance, and from iteration to iteration or not.
  [[nodiscard]] bool ranks_vary() const { return device_spread > 0 || step_jitter.varies(); }
};

// Traffic of others on a scenario's platform: "platform/traffic", read and checked.
//
// A list of
//   {"kind": "constant", "links": PATTERN, "rate": RATE}        always there: as "background" of a condition
//   {"kind": "on_off", "links": PATTERN, "rate": RATE, "on": TIME, "off": TIME}
//                                                               times constant, or drawn from a distribution
//   {"kind": "job", "workload": ..., "ranks": ..., "placement": ..., "strategy": ..., "collectives": ..., "effects":
//   ...}
//                                                               as in a scenario, on the same platform, on free devices
// Sources take what they want and give way to nobody; jobs share. What that comes to is in engine/company.hpp.

struct Scenario;

struct OnOffSpec {
  std::vector<int> links;
  BytesPerSecond rate;
  TimeDistribution on;
  TimeDistribution off;
  Place place{};  // in the scenario's file
};

struct TrafficSpec {
  std::vector<OnOffSpec> on_off;
  std::vector<std::shared_ptr<const Scenario>> jobs;  // their platform is ours
};

/// The constant sources of a "platform", into the topology's condition, before anything is built.
void add_constant_traffic(const Value& traffic, Topology& topology);

/// The others, into the scenario that has been read, whose platform grows to hold all jobs where it may. `platform`:
/// its section of the document.
void read_traffic(const Value& traffic, const Value& platform, const Catalogue& catalogue, const Topology& topology,
                  Scenario& scenario);

// What a scenario's "run" section says: a whole training run, of which the measured iterations are a sample.

struct FailureSpec {
  Seconds node_mtbf = Seconds::infinity();    // of what fails once in a node
  Seconds device_mtbf = Seconds::infinity();  // and of each of its devices
  bool elastic = false;
  Seconds detection;     // from a failure until it is noticed
  Seconds restart;       // or what rebuilding the communicators takes, where it is elastic
  bool reloads = false;  // a restart reads the checkpoint, as fast as it was written, beside that
  Seconds repair;        // until a node is back
  int spare_nodes = 0;   // that take the place of those under repair
  int commit_every_steps = 1;
  int least_nodes = 1;
  int simulations = 100;
  Place place{};  // in the scenario's file

  /// From failure to failure of a job on so many nodes with so many devices.
  [[nodiscard]] Seconds mtbf(int nodes, int devices) const {
    return Seconds(1 / (nodes / node_mtbf.si() + devices / device_mtbf.si()));
  }
};

struct LearningRateSpec {
  double base = 0;
  int base_batch = 256;
  std::string scaling = "linear";  // "linear", "sqrt" or "none"
  double warmup_epochs = 0;
  int largest_known_batch = 0;
};

struct RunSpec {
  std::int64_t samples = 0;
  int epochs = 1;
  std::int64_t evaluation_samples = 0;
  int evaluate_every = 1;  // epochs
  Seconds startup;
  bool initial_broadcast = true;
  int metrics = 0;  // numbers averaged over all ranks after each epoch
  std::optional<FailureSpec> failures;
  std::optional<LearningRateSpec> learning_rate;
};

/// `global_batch`: an epoch must have at least one.
RunSpec read_run(const Value& where, std::int64_t global_batch);

/// A run of a scenario's workload that was measured.
struct AnchorRun {
  int ranks = 1;
  int batch = 1;         // of a rank, of a pass
  int accumulation = 1;  // passes of a step
  Seconds iteration;
  double beside = 1;  // how many times the device's time of the fewest ranks of that batch its device takes
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
  std::optional<Loss> loss{};                // empty: fused where all is compiled, else as the model's layer has it
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
  /// The bias of a job on so many ranks, by runs of the nearest batch: straight over doublings, constant beyond.
  [[nodiscard]] double beside(int ranks) const;
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

/// Whether one iteration differs from the next by the jitter of computation alone: few of them tell the mean.
bool only_jitters(const Scenario& scenario);

/// `where` is the root of a scenario document without "sweep" (scenario/sweep.hpp).
Scenario read_scenario(const Value& where, const Catalogue& catalogue);

/// The "strategy" that it was read from, with settings of its own in place of what is pasted there.
Node unpasted_strategy(const Value& strategy, const Scenario& scenario, const Catalogue& catalogue);

}}  // namespace farandole::scenario
