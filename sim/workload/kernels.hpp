// The kernels of a layer's passes and how long they take, estimated from its shape.
//
// Called by workload/compute_time.cpp. Of a pass over arithmetic with M multiply-adds a sample, x bytes of activations
// a sample and w bytes of weights, with batch b:
//   t = launch + max(2 M b / rate, (x b + w) / bandwidth) + tail x 2 min(128, R b) min(128, N) K / (rate / processors)
// Forward is one such pass, backward two: the gradient by the weights and that by the inputs. The last term is what is
// lost as a device's multiprocessors run out of tiles of 128 x 128 outputs: R of them a sample share their weights, N
// their inputs, and each sums K products, backward with inputs and outputs in each other's place. The gradient by the
// weights sums over the batch, which is split as far as the multiprocessors go, and has no such term. A layer without
// arithmetic is one kernel forward and one backward that move what their algorithm reads and writes: a batch
// normalisation reads its input twice forward, and input and gradient twice backward. Rates: workload/device.hpp.
//
// Programs that fuse batch normalisation save passes (`Normalisation`). With the ReLU behind it in the same kernels,
// that one's two passes forward and three backward are gone. Where the convolution before it sums up what it writes, so
// is one of its two readings forward; and where the convolution behind, of the same block, applies it as it reads,
// nothing is left forward but the kernel that makes mean and variance of the sums. Backward it takes its five passes in
// any of them: MXNet's NormalizedConvolution has CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS forward, and a kernel
// of its own for the normalisation's gradient behind the convolution's
// (src/operator/nn/cudnn/cudnn_normalized_convolution-inl.h).
//
// What a compiler of pointwise kernels saves (torch.compile's Inductor): they reach the rate of long copies, `memory`
// instead of `pointwise`. An addition and the normalisation of its sum are one kernel that reads two and writes two;
// SiLU is part of the product that it gates, and computed once more backward; dropout of what is beside it, as its
// mask follows from a seed; ReLU of the batch normalisation before it. Products of matrices stay what they are
// (torch/_inductor/scheduler.py: only max-autotune has templates that are fused with what follows).
#pragma once

#include "units/quantity.hpp"
#include "workload/device.hpp"
#include "workload/model.hpp"
#include "workload/recompute.hpp"

namespace farandole { inline namespace workload {

struct LayerTimes {
  Seconds forward;
  Seconds weight_gradient;  // of a layer without arithmetic the whole backward pass
  Seconds input_gradient;
};

/// Of layer `index` between its neighbours. The device has fitted kernels and a peak rate for `precision`.
LayerTimes kernel_times(const std::vector<Layer>& layers, std::size_t index, const Device& device, Precision precision,
                        int batch, const Fusion& fusion);

/// Whether its arithmetic is a convolution's; of all else that has some, it is products of matrices.
bool is_convolution(const Layer& layer);

/// Of a layer of matrix products, the outputs of one row: each sums macs / output_elements products.
double columns_of(const Layer& layer);

/// What a layer without arithmetic reads and writes in a pass, in elements a sample.
struct Movement {
  double forward = 0;
  double backward = 0;
};
Movement movement_of(const Layer& layer);

/// What products of matrices reach: `most` x h / (h + half) (workload/device.hpp).
struct ProductRate {
  FlopPerSecond most;
  double half = 0;
};

/// Of a device without fitted kernels, its share of the peak. `precision` is one that it has a peak rate for.
ProductRate product_rate(const Device& device, Precision precision);

/// One kernel a tensor: SGD with momentum reads weights, gradients and momentum, and writes weights and momentum.
Seconds update_kernels(const Model& model, const Device& device);

// How many operations a training step on one sample is, as utilisation is counted by.
//
// Called by sim/scenario for the "mfu" and "hfu" of results. Model FLOPs are what the mathematics of the model asks
// for, whoever computes it how: two for each multiply-add forward and four backward, norms, activations and biases not
// counted, and of attention both products over the whole sequence, also where a causal mask hides half of it:
//   6 N + 12 L H Q T a token
// with N weights in products (a tied embedding as the output matrix), L layers of H heads of width Q and T tokens
// (Chowdhery et al., "PaLM", arXiv:2204.02311, appendix B). Frozen weights have no gradient of theirs: 4 N a token of
// those, with LoRA of nearly all, and 2 N before the first parameter that is trained, where no gradient goes. Hardware
// FLOPs add the forward passes that recomputation repeats (Korthikanti et al., arXiv:2205.05198, section 6.3).

/// Of a pass forward and backward.
Flop model_flops(const Model& model);
/// The same, of attention without what a causal mask hides, as Megatron-LM and Llama's reports count.
Flop causal_flops(const Model& model);

Flop hardware_flops(const Model& model, Recompute recompute);

}}  // namespace farandole::workload
