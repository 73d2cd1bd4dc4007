// Horovod's buffers: which negotiated tensors travel together in one allreduce, and what Adasum costs beside its
// schedule (collective/algorithms/exchanges.hpp).
//
// Horovod goes through the tensors in the order they were negotiated and puts them into one buffer as long as it holds
// them. The first tensor that does not fit closes the buffer. (Since 0.16.0 it looks further ahead past tensors of
// another type or device, as long as these would have fitted: FuseResponses, horovod/common/controller.cc. Gradients
// here are of one type on one device.) A tensor larger than the threshold travels alone.
//
// Adasum, in round k of log2 n: groups of 2^(k-1) combiners meet. Each reads its part and what came, adds up three
// products for every tensor over all ranks of both groups (an allreduce of 24 bytes a tensor between hosts, log2 deep),
// and writes a scaled sum: with n combiners and m bytes at each
//
//   sum over k of  log2(ranks of both groups) latency  +  5 m / 2^k / memory
//
// (horovod/common/ops/adasum/adasum.h, FusedPairwiseReduceWithComm). Horovod combines on the host; what a host's memory
// does beside a GPU is not known, so the device's is taken: a lower bound. Called by the strategy "horovod".
#pragma once

#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace training {

/// Groups of indices into `sizes`, in the order of their first members; every index stands in exactly one group and no
/// group of several exceeds `threshold`.
std::vector<std::vector<int>> fuse(const std::vector<Bytes>& sizes, Bytes threshold);

struct AdasumSite {
  int ranks = 1;
  int ranks_per_combiner = 1;  // summed up before; more than one on GPUs, where it is a node
  Seconds latency;             // of a small message between hosts
  BytesPerSecond memory_bandwidth;
};

/// For a buffer of that size on every rank.
Seconds adasum_time(const AdasumSite& site, Bytes size);

}}  // namespace farandole::training
