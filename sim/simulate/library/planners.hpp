// The families of libraries: what a release's file has of its own, beside its name, summary and operations.
//
// Called by the catalogue of libraries. Each fills in the planner, and takes its keys from the section.
#pragma once

#include <functional>

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

NcclMessages scaled(NcclMessages messages, const NetworkScale& scale);

/// A choice of NCCL's kind for a size.
using NcclChoices = std::function<NcclChoice(Bytes size)>;

/// As `choose` has them, without cliffs: sizes at which a library goes another way are known to a few percent at best,
/// so that before one of which more data would take less time, less and less is taken: by an eighth for every 5 % of
/// the size. Of messages, whose way knows no other part of the cost, the base. What was asked for is kept.
NcclChoices without_cliffs(NcclChoices choose, bool are_messages);

/// What a choice of NCCL's kind is carried out as, at so many times its latency and rate as the network is scaled and
/// charged. The tables are of the network as it is, so where that is scaled the choice is the one for size / rate:
///
///   latency * (base + hops) + known / r, of the choice (base, hops, r) for known = size / rate
///
/// and a faster network, or a shorter one, is never slower but where fewer bytes are. `job` is asked for whenever
/// it is routed.
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
