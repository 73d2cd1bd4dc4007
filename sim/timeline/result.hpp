// The result point: what one run of one configuration gives, whoever executed it.
//
// Every executor, simulated or real, returns this; report/ prints it and computes nothing. All numbers are SI.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/bands.hpp"
#include "timeline/explanation.hpp"
#include "timeline/job_cost.hpp"
#include "timeline/memory_use.hpp"
#include "timeline/tuning.hpp"
#include "timeline/whole_run.hpp"
#include "units/quantity.hpp"

namespace farandole {

/// Disjoint parts of the mean iteration; they sum to it.
struct Breakdown {
  Seconds compute;
  Seconds exposed_communication;
  Seconds negotiation;
  Seconds straggler;
  Seconds input;
  Seconds checkpoint;
  Seconds other;

  [[nodiscard]] Seconds total() const;
  Breakdown& operator+=(const Breakdown& more);
};
Breakdown operator*(const Breakdown& parts, double factor);

/// What became of a numeric problem's weights in simulated time.
struct Learning {
  std::string problem;
  std::vector<double> weights;   // at the end, flat
  double start_loss = 0;         // before the first epoch
  std::vector<double> loss;      // at the end of each epoch, over all samples
  std::vector<Seconds> seconds;  // when that was, since the start of the run
};

/// A job that shares the network with the one that is simulated.
struct Neighbour {
  std::string model;
  int ranks = 1;
  Seconds alone;   // its mean iteration by itself
  Seconds beside;  // and beside this job
};

/// How busy one link was.
struct LinkUse {
  std::string name;
  Bytes bytes;
  BytesPerSecond capacity;
  double utilisation = 0;  // of its capacity over the time
};

/// What a sweep put where: a JSON pointer, or "variants", and the value as it was written.
struct SweptValue {
  std::string pointer;
  std::string value;
};

/// What one device was inferred to take, for the simulation to agree with runs that were measured.
struct Anchoring {
  struct Step {
    int batch = 1;
    Seconds time;
  };
  std::vector<Step> steps;            // of one device alone, in order of batch
  std::optional<Seconds> fixed;       // of a step, whatever its batch; of two batches or more
  std::optional<Seconds> per_sample;  // the same
};

/// How much of its devices a job uses (workload/flops.hpp).
struct Utilisation {
  int sequence_length = 0;        // tokens of a sample; 0: a sample is no sequence
  double tokens_per_second = 0;   // of all ranks; 0 without a sequence
  double tflops = 0;              // TFLOP/s of one device: what the model's mathematics asks for
  std::optional<double> mfu{};    // share of the device's peak; empty where the peak of the precision is not known
  std::optional<double> hfu{};    // the same with what is recomputed
  std::string recompute{"none"};  // none, selective or full
};

/// A point of `farandole run`.
struct TrainingPoint {
  std::string model;
  std::string variant;
  int ranks = 1;
  int nodes = 1;
  std::string platform;
  std::string strategy;
  std::string mode;
  std::string strategy_options;  // that a sweep is likely to change; empty where all are as by default
  std::string algorithm;
  std::string fidelity;
  int batch_per_rank = 1;
  std::string precision;       // of computation
  std::string gradient_type;   // what travels and is summed
  std::string compute_source;  // begins with "measured", "estimated", "profiled", "given" or "anchored"
  Seconds iteration;
  Seconds iteration_p50;
  Seconds iteration_p95;
  double samples_per_second = 0;
  double scaling_efficiency = 1;
  Breakdown breakdown;
  int collectives_per_iteration = 0;
  Bytes gradient_bytes;
  MemoryUse memory;
  std::vector<PathStep> critical_path;  // of the last iteration
  std::optional<WholeRun> run;
  std::optional<JobCost> cost;  // of a scenario that says how its machine is paid for
  std::optional<Explanation> explanation;
  bool folded = false;               // whether every collective was timed by representatives
  double mean_staleness = 0;         // of servers without a barrier: updates by others between pull and push
  std::optional<Learning> learning;  // of a scenario with a numeric problem
  std::vector<Neighbour> neighbours;
  std::vector<LinkUse> links;      // the busiest over an iteration, where they were asked for
  std::optional<Tuning> tuning;    // of a strategy that tunes itself: with the first seed
  std::vector<SweptValue> swept;   // in the order of the sweep's axes
  std::vector<std::string> notes;  // what a reader would otherwise take for a result, each a sentence
  std::optional<Anchoring> anchoring{};
  std::optional<Bands> bands{};  // where compute times are uncertain, and it was asked for
  Utilisation utilisation{};
};

/// What a communication library picked for one collective.
struct LibraryChoice {
  std::string algorithm;
  std::string protocol;  // NCCL's: LL, LL128 or Simple; empty where the library has none
  int channels = 1;
};

/// A point of `farandole collective`, and later of `farandole bench`.
struct CollectivePoint {
  std::string operation;
  std::string algorithm;
  int ranks = 1;
  Bytes bytes;
  Seconds time;
  BytesPerSecond algorithm_bandwidth;
  BytesPerSecond bus_bandwidth;
  std::string fidelity;
  bool folded = false;
  int root = 0;                           // of operations that have one
  int servers = 0;                        // of a parameter server
  std::optional<LibraryChoice> choice{};  // where `algorithm` is a library
  std::vector<LinkUse> links{};           // the busiest, where they were asked for
};

/// Effective settings, printed in every result: name to value, in order of name.
using Settings = std::map<std::string, std::string>;

}  // namespace farandole
