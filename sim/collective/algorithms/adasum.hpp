// Adasum's allreduce: halves exchanged at distance 1, 2, 4, ... and combined, then the way back.
//
// What is combined is not a sum. Of two gradients a and b of one tensor it makes
//
//   (1 - a.b / (2 a.a)) a  +  (1 - a.b / (2 b.b)) b
//
// the sum where they are orthogonal, the mean where they are parallel (Maleki et al., "Scaling Distributed Training
// with Adaptive Summation", MLSys 2021). That commutes but does not associate, so it is not enough that every
// contribution is in every chunk once: all chunks of all ranks must be combined by the same tree, neighbours first.
// tests/collective/adasum_test.cpp proves both. The products run over whole tensors; their allreduces, 24 bytes a
// tensor in every round, are not part of the schedule: they depend on tensors, which a schedule does not know. The
// strategy that uses it charges them (training/adasum.hpp).
//
// `adasum` is the flat one, vector halving with distance doubling, of horovod/common/ops/adasum/adasum.h
// (github.com/horovod/horovod); ranks beyond a power of two are combined with their neighbour first, which Horovod
// refuses. `hierarchical_adasum` is that of adasum_gpu_operations.cc: plain sums within a node, reduce-scatter and
// allgather, and Adasum between ranks of equal local rank. Where nodes are not of equal size it is the flat one.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule adasum_allreduce(const Shape& shape);
Schedule hierarchical_adasum_allreduce(const Shape& shape);

}  // namespace farandole
