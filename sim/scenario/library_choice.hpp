// Collectives that name a library where others name an algorithm.
//
// A row of such a name has no schedule (its `build` is empty): "nccl-2.7" and its like, or "library" for the one that
// the topology's transport names. Scenarios and the command line read names here, and say which library is meant once
// the machine is known. Where nobody names anything, the topology's own library is what runs, as on the machine itself.
#pragma once

#include <optional>
#include <string>

#include "collective/algorithms.hpp"
#include "config/document.hpp"
#include "platform/platform.hpp"
#include "simulate/library/library.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace scenario {

/// The algorithm or the library of that name for the operation, or nothing.
std::optional<Algorithm> find_algorithm_or_library(Operation operation, const std::string& name);

inline bool is_library(const Algorithm& algorithm) {
  return !algorithm.build;
}

/// What to say after a name that is neither: the nearest one, of a library the nearest release.
std::string hint_for_algorithm(Operation operation, const std::string& name);

/// What libraries know it by.
DeviceKind kind_of(const Device& device);

struct LibraryUse {
  const Library* library = nullptr;
  DeviceKind device{};
  bool by_default = false;  // nobody asked for it: an algorithm may take its place where no library can be simulated
};

/// The library that `algorithm` means there. `where` is blamed where the transport names none, where it has not the
/// operation, and where it does not run on the device.
LibraryUse use_library(const Algorithm& algorithm, const Transport& transport, const Device& device,
                       const Value& where);

/// What carries out a collective that nobody chose anything for.
struct DefaultCollective {
  Algorithm algorithm;
  LibraryUse library{};     // where the algorithm is one
  std::string why_plain{};  // why not the library that the topology names; empty where it is that, or names none
};

/// The library that the transport names, or `plain` where it names none, or one that has not the operation or does not
/// run on the device.
DefaultCollective default_collective(const Algorithm& plain, const Transport& transport, const Device& device);

/// `plain` in place of the library, because of `why`.
DefaultCollective without_library(const Algorithm& plain, const Transport& transport, const std::string& why);

/// The MPI between hosts there: the topology's, or else Open MPI.
const Library& mpi_of_hosts(const Platform& platform);

/// Fails where a topology file's transport names a library that is none of ours, or an MPI that is none.
void refuse_unknown_library(const Document& topology);

}}  // namespace farandole::scenario
