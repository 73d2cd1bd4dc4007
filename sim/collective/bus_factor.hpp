// nccl-tests' bus bandwidth factor: what the slowest link carries per byte of the size.
//
// bus bandwidth = algorithm bandwidth times this (doc/PERFORMANCE.md of nccl-tests): 2 (n-1)/n for an allreduce,
// (n-1)/n for reduce_scatter, allgather, alltoall, gather and scatter, 1 for broadcast and reduce; a barrier has none;
// of a parameter server, what the busiest server sends (or receives) in shares of the size. Used for simulated and for
// measured collectives alike.
#pragma once

#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

/// `largest_share`: the part of all data that the busiest parameter server has.
double bus_factor(const Schedule& schedule, double largest_share);

}}  // namespace farandole::collective
