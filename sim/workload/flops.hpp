// How many operations a training step on one sample is, as utilisation is counted by.
//
// Called by sim/scenario for the "mfu" and "hfu" of results. Model FLOPs are what the mathematics of the model asks
// for, whoever computes it how: two for each multiply-add forward and four backward, norms, activations and biases not
// counted, and of attention both products over the whole sequence, also where a causal mask hides half of it:
//   6 N + 12 L H Q T a token
// with N weights in products (a tied embedding as the output matrix), L layers of H heads of width Q and T tokens
// (Chowdhery et al., "PaLM", arXiv:2204.02311, appendix B). Hardware FLOPs add the forward passes that recomputation
// repeats (Korthikanti et al., arXiv:2205.05198, section 6.3).
#pragma once

#include "units/quantity.hpp"
#include "workload/model.hpp"
#include "workload/recompute.hpp"

namespace farandole {

/// Of a pass forward and backward.
Flop model_flops(const Model& model);

Flop hardware_flops(const Model& model, Recompute recompute);

}  // namespace farandole
