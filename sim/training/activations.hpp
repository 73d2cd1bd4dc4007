// What a backward pass needs of the forward pass, and has to be kept until then.
//
// Called by training/memory.cpp. By the kind of a layer its backward pass needs its input (products, norms, GELU, SiLU,
// max pooling), its output (ReLU in place, softmax, sigmoid) or both (fused attention), dropout a mask of a byte an
// element, and addition nothing; what neither a layer nor the next in the list needs is not kept. So a transformer's
// block keeps s b h (34 + 5 a s / h) bytes in half precision (Korthikanti et al., arXiv:2205.05198, eq. 2), and
// fused attention in place of scores and softmax nothing that grows with the square of the sequence but 4 bytes a query
// and head. A loss over a vocabulary keeps its logarithms in single precision and works on two more copies; a fused
// one keeps the logits and makes their gradients in their place (Dao, flash-attention, losses/cross_entropy.py).
#pragma once

#include "units/quantity.hpp"
#include "workload/model.hpp"
#include "workload/recompute.hpp"

namespace farandole {

/// Of one sample at the fullest moment of a step: everything kept when the backward pass begins and what the loss works
/// on, or what is left of it when a block has been computed anew. `element`: bytes of an activation.
Bytes activations_of_a_sample(const Model& model, Bytes element, Recompute recompute);

}  // namespace farandole
