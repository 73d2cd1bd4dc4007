// The families of libraries: what a release's file has of its own, beside its name, summary and operations.
//
// Called by the catalogue of libraries. Each fills in the planner, and takes its keys from the section.
#pragma once

#include "config/section.hpp"
#include "simulate/library/library.hpp"
#include "simulate/library/nccl_route.hpp"

namespace farandole { inline namespace simulate {

/// MPI libraries: a decision, and what the platform says of MPI's messages.
void add_mpi(Section& section, Library& library);

/// What messages of an MPI of that name cost there. How long ones are announced (Transport::handshakes) is the business
/// of the MPI that the platform names.
Transport mpi_transport(const std::string& library, const Platform& platform);

/// oneCCL: a decision by nodes, schedules inside and between them, and the platform's own transport.
void add_oneccl(Section& section, Library& library);

/// NCCL: its cost model, or rings alone.
void add_nccl(Section& section, Library& library);

/// A library's tables are of the network as it is. Where that is scaled, it decides for a size as it does for the one
/// that takes as many times as long by its latency as by its rate there:
///
///   latency * (base + hops) + size / (rate * r) = latency * (base + hops + known / r), known = size / (rate * latency)
///
/// so that a faster network is never slower, but where more bytes were faster.
Bytes as_if_unscaled(Bytes size, const NetworkScale& scale);
NcclMessages scaled(NcclMessages messages, const NetworkScale& scale);

/// What a choice of NCCL's kind is carried out as, at so many times its latency and rate as the network is scaled and
/// charged. `job` is asked for whenever it is routed.
LibraryPlan plan_as_nccl(const std::function<NcclJob()>& job, NcclChoice choice, const LibraryJob& of, Bytes size);

/// RCCL: its cost model.
void add_rccl(Section& section, Library& library);

// NCCL before it had trees and a cost model: rings, over all the channels that the machine has room for.
//
// Releases up to 2.3 know rings only: one for every NIC of a node, or for every
// NVLink where there is one node (src/misc/rings.cu of github.com/NVIDIA/nccl at 5eef1dcb0ea9). They publish no
// latencies, so that messages and launch cost what the platform's transport says, as with the MPI libraries; the rates
// are the links'. Their protocol for small messages (LL) is left out. With one NIC and no NVLinks an allreduce is the
// plain ring's, to the last digit.

std::function<LibraryPlanner(const LibraryJob& job)> nccl_of_rings();

}}  // namespace farandole::simulate
