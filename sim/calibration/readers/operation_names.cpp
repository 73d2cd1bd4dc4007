#include <array>
#include <cctype>

#include "calibration/readers/readers.hpp"

namespace farandole { inline namespace calibration {
namespace {

struct Alias {
  std::string_view theirs;  // small letters, nothing but letters
  const char* ours;
};

constexpr std::array operations{
    Alias{"allreduce", "allreduce"},
    Alias{"reducescatter", "reduce_scatter"},
    Alias{"allgather", "allgather"},
    Alias{"broadcast", "broadcast"},
    Alias{"bcast", "broadcast"},
    Alias{"alltoall", "alltoall"},
    Alias{"alltoallpersonalizedexchange", "alltoall"},
    Alias{"reduce", "reduce"},
    Alias{"gather", "gather"},
    Alias{"scatter", "scatter"},
    Alias{"barrier", "barrier"},
    Alias{"parameterserver", "parameter_server"},
    Alias{"pingpong", "pingpong"},
    Alias{"exchange", "exchange"},
};

struct AlgorithmAlias {
  std::string_view operation;  // empty: of any
  std::string_view theirs;
  const char* ours;
};

constexpr std::array algorithm_aliases{
    AlgorithmAlias{"allreduce", "rabenseifner", "doubling_halving"},
    AlgorithmAlias{"reduce", "rabenseifner", "doubling_gather"},
    AlgorithmAlias{"alltoall", "linear", "direct"},
    AlgorithmAlias{"broadcast", "pipeline", "chain"},
    AlgorithmAlias{"parameter_server", "push_pull", "dedicated"},
    AlgorithmAlias{"parameter_server", "parameter_server", "dedicated"},
    AlgorithmAlias{"parameter_server", "ps", "dedicated"},
    AlgorithmAlias{"parameter_server", "chunked", "dedicated_keys"},
    AlgorithmAlias{"parameter_server", "ps_chunk", "dedicated_keys"},
    AlgorithmAlias{"parameter_server", "co_located", "colocated"},
    AlgorithmAlias{"parameter_server", "ps_colocated", "colocated"},
};

std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

}  // namespace

std::optional<std::string> operation_called(std::string_view name) {
  const std::string letters = letters_of(name);
  for (const Alias& alias : operations) {
    if (alias.theirs == letters) return alias.ours;
  }
  return std::nullopt;
}

std::string algorithm_called(std::string_view operation, std::string_view name) {
  for (const AlgorithmAlias& alias : algorithm_aliases) {
    if ((alias.operation.empty() || alias.operation == operation) && alias.theirs == name) return alias.ours;
  }
  return std::string(name);
}

bool mpi_counts_shares(std::string_view operation) {
  return operation == "allgather" || operation == "gather" || operation == "scatter" || operation == "alltoall";
}

}}  // namespace farandole::calibration
