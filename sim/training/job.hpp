// What one rank does in one iteration, at the nominal speed of its device: the workload seen by a strategy.
//
// Gradients are in backward order, the order in which they become ready. A gradient is announced when the host has
// queued its kernels and ready when the device has computed them; on a GPU the host runs ahead, so that Horovod
// negotiates a tensor long before its data is there (its timeline then shows WAIT_FOR_DATA). A device that computes
// synchronously announces a gradient when it is ready.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/task.hpp"
#include "training/gradient_type.hpp"
#include "workload/compute_time.hpp"

namespace farandole { inline namespace training {

struct Gradient {
  std::string name;
  Bytes size;
  Seconds announced;  // since the start of the iteration; host time, the same on slow and fast devices
  Seconds ready;      // since the start of the iteration, at nominal speed
  // The tensor as a matrix: its first dimension by all others. A vector has one column.
  double rows = 0;
  double columns = 1;
  bool is_of_experts = false;  // summed over those that have the same
};

/// One layer's passes at nominal speed, in the order of the forward pass.
struct LayerPass {
  Seconds forward;
  Seconds backward;
  std::vector<InnerExchange> forward_exchanges{};  // of ranks that compute the layer together, within its pass
  std::vector<InnerExchange> backward_exchanges{};
};

/// What the framework keeps for the model: parameters, trained or frozen, and tensors that only follow, the moving
/// means and variances of batch normalisation. Always in fp32.
struct Variable {
  std::string name;
  Bytes size;
  int layer = 0;        // in Job::layers
  int gradient = -1;    // in Job::gradients; -1: not trained
  bool frozen = false;  // a parameter that is not trained
};

/// Which part of a pipeline a job is.
struct StagePlace {
  int stage = 0;
  int stages = 1;

  /// Micro-batches whose activations it keeps at a time: those that it has passed on and that have not come back.
  [[nodiscard]] int in_flight(int passes) const { return passes < stages - stage ? passes : stages - stage; }
};

struct Job {
  std::vector<Gradient> gradients;
  Seconds backward_end;  // forward and backward together, at nominal speed
  Seconds update;
  Bytes element = 4_B;                // of a gradient
  std::vector<LayerPass> layers{};    // in forward order; their passes sum to backward_end
  std::vector<Variable> variables{};  // in the order in which the framework makes them
  int passes = 1;                     // in backward_end
  std::optional<StagePlace> stage{};  // its passes are those of micro-batches in a pipeline; empty: all layers
  std::size_t first_backward = 0;     // the layers before have no backward pass: nothing up to there is trained

  [[nodiscard]] Seconds compute() const { return backward_end + update; }
  [[nodiscard]] double elements_of(const Gradient& gradient) const { return gradient.size / element; }
  [[nodiscard]] Bytes gradient_bytes() const;
  /// Of variables that are no parameters.
  [[nodiscard]] Bytes buffer_bytes() const;
};

/// Gradients add up over so many forward and backward passes before they travel: only the last pass gives them, and the
/// update follows once.
Job accumulated(Job job, int passes);

/// Gradients travel only when the backward pass is over: what a training loop without overlap does, and a way to see
/// what overlap is worth.
Job without_overlap(Job job);

/// What the ranks of a tensor group exchange in the passes of its layers (workload/model.hpp: split_model).
struct ExchangeDemand {
  int batch = 1;
  Bytes element;  // of activations
  bool sequence_parallel = false;
  Recompute recompute = Recompute::none;
};
void add_exchanges(Job& job, const Model& model, const ExchangeDemand& demand);

/// What ranks that share experts exchange: tokens go to their experts and come back, forward, and their gradients the
/// same way backward. Says which gradients are of experts, too.
void add_expert_exchanges(Job& job, const Model& model, const ExchangeDemand& demand);

/// Of one pass over all layers.
std::vector<InnerExchange> forward_exchanges(const Job& job);
std::vector<InnerExchange> backward_exchanges(const Job& job);

/// Of all passes of a step, within backward_end.
std::vector<InnerExchange> exchanges_of(const Job& job);

/// `host_dispatch`: what the host spends to queue one pass (forward or backward) over one layer; empty: the host does
/// not run ahead of the device.
Job make_job(const Model& model, const ComputeTimes& times, GradientType gradient_type,
             std::optional<Seconds> host_dispatch);

}}  // namespace farandole::training
