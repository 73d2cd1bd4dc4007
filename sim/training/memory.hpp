// Does a job fit into its devices' memory, and if not, what would help?
//
//   parameters       elements x element size of the parameters; where they are in single precision and computation is
//                    in half, autocast keeps casts of them beside, unless they are sharded. Frozen ones are in half
//                    precision where computation is, as they are loaded for LoRA, unless the scenario says otherwise
//   gradients        elements x element size of the gradients, of what is trained; where passes add up unsharded ones
//                    (FSDP's no_sync), all of them, in the precision of computation where that is shorter
//   optimizer_state  elements x element size of the state x slots of the optimizer, of what is trained; of a model that
//                    was cast to half precision, one more, the master copy, where the state is in single precision
//   activations      batch x what the backward pass needs of a sample (training/memory.hpp)
//   fusion_buffers   what the strategy sets aside
//   gathered         of sharded parameters those that are whole at one time, in the precision of computation: all
//   outside
//                    of blocks, and the two largest blocks, the one that computes and the one that is fetched meanwhile
//                    (Zhao et al., "PyTorch FSDP", arXiv:2304.11277, section 3); and a rank's part of what is kept near
//   server_shard     on the host of the fullest parameter server, where there are any: variables, the sum of their
//                    gradients and 4 bytes x slots per parameter. The optimizer's state is there, not on the devices
//
// Of `sharding.ranks` ranks each keeps its share of the optimizer's state (stage 1), also of the gradients (2), also of
// the parameters (3): Rajbhandari et al., "ZeRO", arXiv:1910.02054.
//
// In fp8 a program may keep the inputs of products in one byte each (Transformer Engine) or in bf16 (torchao): the
// larger is counted, and what is spared by the smaller stands beside it. So does what an allocator would give back: the
// logits of a plain loss in half precision, whose block is free when their gradients are made in single, and too short.
//
// Gradients of activations, workspaces and blocks that are too short for anything are not counted: the sum less what
// may be spared is a lower bound, so a job that is refused cannot run, and one that is let pass may still not; eager
// programs reserve 7 % more (tests/training/measured_memory_test.cpp). Context and communication buffers stand beside
// it, as `outside`. Gradients count in full beside all activations, as where several passes add up to a step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "timeline/result.hpp"
#include "training/gradient_type.hpp"
#include "units/quantity.hpp"
#include "workload/device.hpp"
#include "workload/model.hpp"
#include "workload/recompute.hpp"

namespace farandole { inline namespace training {

struct Optimizer {
  std::string name;
  int slots = 0;  // numbers kept per parameter
};
/// sgd, momentum, adam.
std::span<const Optimizer> optimizers();
/// What an update moves per byte of a parameter: gradient and parameter read, parameter written, every slot both.
inline double update_traffic(const Optimizer& optimizer) {
  return 3 + 2 * optimizer.slots;
}
/// That of the update that compute times and measured throughputs contain (workload/compute_time.hpp).
inline Optimizer usual_optimizer() {
  return {"momentum", 1};
}

/// How a loss over a vocabulary is computed. What it keeps of every logit for its backward pass, and has besides at its
/// fullest:
///   plain    its logarithm, 4 bytes; two gradients in single precision, and the logit itself where that is in half
///            (torch.nn.functional.cross_entropy of logits.float())
///   fused    the logit; its gradient (torch.compile, Liger), in its place where the layer is a "fused_cross_entropy"
///            (Dao, flash-attention, losses/cross_entropy.py)
///   chunked  nothing; all of plain's, of an eighth of them (torchtune's and torchtitan's eight chunks, each with its
///            part of the head)
enum class Loss : std::uint8_t { plain, fused, chunked };

/// What `ranks` share among them: the optimizer's state from stage 1 on, gradients from 2, parameters at 3.
struct Sharding {
  int stage = 0;
  int ranks = 1;
  int kept = 0;  // of those, that share what was computed forward until it is computed backward; 0: none does

  [[nodiscard]] double share(int from_stage) const { return stage >= from_stage ? 1.0 / ranks : 1.0; }
};

struct MemoryDemand {
  Precision precision = Precision::fp32;
  int batch = 1;
  Optimizer optimizer;
  Bytes fusion_buffers;
  Bytes server_shard;
  GradientType gradient_type = GradientType::fp32;
  std::optional<GradientType>
      parameter_type{};  // empty: half precision where gradients and computation are, else single
  GradientType optimizer_state_type = GradientType::fp32;
  Recompute recompute = Recompute::none;
  Sharding sharding{};
  int blocks_per_unit = 1;     // that are gathered together; 0: all as one
  int in_flight = 1;           // micro-batches whose activations are kept at a time
  bool adds_up_whole = false;  // gradients of several passes, before they are shared
  std::optional<Loss> loss{};  // empty: as the model's layer has it, plain unless it is a fused one
};

MemoryUse memory_use(const Model& model, const Device& device, const MemoryDemand& demand);

/// "21.3 GiB = parameters 0.5 GiB + ...", parts without bytes left out.
std::string describe(const MemoryUse& use);

/// The largest batch whose activations leave room for the rest, of one that takes `use`; 0 where the rest alone is too
/// much.
int largest_batch(const MemoryUse& use, int batch);

/// Other parallelism that would make a job fit that does not, by name and size, least change first; `ranks` share what
/// can be sharded.
std::vector<std::string> ways_to_fit(const MemoryUse& use, int ranks);

// What a backward pass needs of the forward pass, and has to be kept until then.
//
// Called by training/memory.cpp. By the kind of a layer its backward pass needs its input (products, norms, GELU, SiLU,
// max pooling), its output (ReLU in place, softmax, sigmoid) or both (fused attention), dropout a mask of a byte an
// element, and addition and products of frozen weights nothing (torch/csrc/autograd saves only what a gradient that is
// asked for needs); what neither a layer nor the next in the list needs is not kept. So a transformer's
// block keeps s b h (34 + 5 a s / h) bytes in half precision (Korthikanti et al., arXiv:2205.05198, eq. 2), and
// fused attention in place of scores and softmax nothing that grows with the square of the sequence but 4 bytes a query
// and head.

/// Of one sample at the fullest moment of a step: everything kept when the backward pass begins and what the loss works
/// on, or what is left of it when a block has been computed anew. `element`: bytes of an activation. Of several
/// micro-batches in flight all but one are kept as they are between their passes. `input`: bytes of one that only a
/// product needs; empty: the same.
Bytes activations_of_a_sample(const Model& model, Bytes element, Recompute recompute, int in_flight = 1,
                              std::optional<Bytes> input = {}, std::optional<Loss> loss = {});

}}  // namespace farandole::training
