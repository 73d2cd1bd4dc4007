// What other benchmarks call the operations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace farandole {

/// The operation that "all_reduce", "Allreduce", "bcast", "All-to-All Personalized Exchange", "PingPong", ... is, as
/// Farandole spells it; nothing for a name of none.
std::optional<std::string> operation_called(std::string_view name);

/// The algorithm of an operation that other benchmarks call "rabenseifner", "linear", ..., as Farandole spells it;
/// unknown names stay as they are.
std::string algorithm_called(std::string_view operation, std::string_view name);

/// Whether the MPI benchmarks count one rank's share of the size: of an alltoall, what goes to one other.
bool mpi_counts_shares(std::string_view operation);

}  // namespace farandole
