// What MPI's messages cost on a machine whose transport is that of another library, NCCL or RCCL.
//
// A topology has one `transport`, which says what its own communication library does. Whoever runs an MPI there, as a
// library of collectives or between the hosts in Horovod's hierarchical allreduce, has other latencies, limits and
// costs. The reader of topologies calls this. MPI's numbers are those of `transport.mpi`; what that leaves out, or all
// of it where there is none and the transport is NCCL's or RCCL's, is as what MPI uses over the NIC's protocol does it.
// Where nothing is known of a protocol, MPI has the transport's numbers. Where the machine's library is itself an MPI,
// everything that is sent there is MPI's. Sources are in mpi_transport.cpp.
#pragma once

#include <optional>
#include <string>

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

/// "nccl-mine" of "./nccl-mine.json", which names a file; any other name is itself.
std::string library_name(const std::string& library);
/// What begins its name: "nccl" of "nccl-2.7" and of "./nccl-mine.json".
std::string library_family(const std::string& library);
/// By its name: "openmpi-4", "mpich", "mpich-3".
bool is_mpi(const std::string& library);

/// Of messages between devices, over NICs of that protocol; `transport` is NCCL's there. Nothing where nothing is
/// known.
std::optional<Transport> mpi_over(const std::string& protocol, const Transport& transport);

/// Reads the key "transport" into `topology`, whose NIC has been read: `transport` and `mpi`.
void read_transport(const Value& value, Topology& topology);

}}  // namespace farandole::platform
