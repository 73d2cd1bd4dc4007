// The planners of the libraries, one for each row of the catalogue.
#pragma once

#include "simulate/library/library.hpp"
#include "simulate/library/nccl_route.hpp"
#include "simulate/library/nccl_tuning.hpp"
#include "simulate/library/rccl_tuning.hpp"

namespace farandole { inline namespace simulate {

// MPI libraries as libraries: a decision, and what the platform says of MPI's messages.

/// "openmpi-4", "mpich" and "mpich-3".
std::vector<Library> mpi_libraries();

/// What messages of an MPI of that name cost there. How long ones are announced (Transport::handshakes) is the business
/// of the MPI that the platform names.
Transport mpi_transport(const std::string& library, const Platform& platform);

// oneCCL as a library: a decision by nodes, schedules inside and between them, and the platform's own transport.

/// "oneccl-2021.16".
Library oneccl_library();

// NCCL's releases as libraries.

/// "nccl-2.7".
Library nccl_library(const NcclTuning& tuning);

/// What a choice of NCCL's kind is carried out as, at so many times its latency and rate. `job` is asked for whenever
/// it is routed.
LibraryPlan plan_as_nccl(const std::function<NcclJob()>& job, NcclChoice choice, const NetworkScale& charged,
                         Bytes size);

// RCCL's releases as libraries.

/// "rccl-2.20".
Library rccl_library(const RcclTuning& tuning);

// NCCL before it had trees and a cost model: rings, over all the channels that the machine has room for.
//
// Called by the catalogue of libraries. Releases up to 2.3 know rings only: one for every NIC of a node, or for every
// NVLink where there is one node (src/misc/rings.cu of github.com/NVIDIA/nccl at 5eef1dcb0ea9). They publish no
// latencies, so that messages and launch cost what the platform's transport says, as with the MPI libraries; the rates
// are the links'. Their protocol for small messages (LL) is left out. With one NIC and no NVLinks an allreduce is the
// plain ring's, to the last digit.

/// "nccl-2.3".
Library nccl_of_rings();

}}  // namespace farandole::simulate
