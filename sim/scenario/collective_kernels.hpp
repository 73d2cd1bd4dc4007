// What a running collective takes of the devices that compute, where a scenario does not say it itself.
//
// Read by read_scenario, charged by engine/device_share.hpp. It follows from who carries the gradients' collective
// out, and from the device:
//
//   NCCL  a channel is one block of threads, for which a multiprocessor is kept: its kernels are compiled for one
//         block on each (__launch_bounds__(NCCL_MAX_NTHREADS, 1), src/device/common.h) and spin while they wait. So
//         channels / multiprocessors, with the channels that NCCL takes for all gradients at once: twice those that its
//         search of the machine finds (src/graph/connect.cc: ncclTopoPostset); before 2.4 one for each NIC, or two on
//         Kepler (src/misc/rings.cu). A topology may state its "channels". Several streams (HOROVOD_NUM_NCCL_STREAMS)
//         take as much each, and together where they overlap (engine/device_share.hpp).
//   MPI on processors  the thread that calls it polls on a core that computes otherwise: 1 / cores. Horovod's and
//         Gloo's collectives run on threads of their own.
//   MPI with GPUs  nothing: the host's cores move and add up what the devices do not wait for.
//
// Nothing either where a topology names no library and no channels, where the device does not say how many parts it
// has, with servers, and for one rank.
#pragma once

#include "scenario/scenario.hpp"

namespace farandole { inline namespace scenario {

/// From 0 to below 1. Of a scenario that is read up to its effects.
double share_of_collectives(const Scenario& scenario);

}}  // namespace farandole::scenario
