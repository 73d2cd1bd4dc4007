// What Adasum costs beside its schedule (collective/algorithms/exchanges.hpp): products over whole tensors, and
// combining.
//
// In round k of log2 n, groups of 2^(k-1) combiners meet. Each reads its part and what came, adds up three products for
// every tensor over all ranks of both groups (an allreduce of 24 bytes a tensor between hosts, log2 deep), and writes a
// scaled sum: with n combiners and m bytes at each
//
//   sum over k of  log2(ranks of both groups) latency  +  5 m / 2^k / memory
//
// (horovod/common/ops/adasum/adasum.h, FusedPairwiseReduceWithComm). Horovod combines on the host; what a host's memory
// does beside a GPU is not known, so the device's is taken: a lower bound. Called by the strategy "horovod".
#pragma once

#include "units/quantity.hpp"

namespace farandole { inline namespace training {

struct AdasumSite {
  int ranks = 1;
  int ranks_per_combiner = 1;  // summed up before; more than one on GPUs, where it is a node
  Seconds latency;             // of a small message between hosts
  BytesPerSecond memory_bandwidth;
};

/// For a buffer of that size on every rank.
Seconds adasum_time(const AdasumSite& site, Bytes size);

}}  // namespace farandole::training
