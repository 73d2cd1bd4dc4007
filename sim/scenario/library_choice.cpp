#include "scenario/library_choice.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/error.hpp"
#include "config/section.hpp"
#include "platform/mpi_transport.hpp"
#include "simulate/library/library_file.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr const char* of_the_transport = "library";

bool has(const Library& library, Operation operation) {
  return std::ranges::find(library.operations, operation) != library.operations.end();
}

std::vector<std::string> libraries_with(Operation operation) {
  return mapped(those_of(libraries(), [&](const Library* library) { return has(*library, operation); }),
                &Library::name);
}

/// Family and number of a release: "nccl-2.7" or "nccl-2.7.8" is "nccl-" and 207; nothing where there is no number.
std::optional<std::pair<std::string, int>> release_of(const std::string& name) {
  const auto dash = name.find('-');
  if (dash == std::string::npos) return std::nullopt;
  int major = 0;
  int minor = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + dash + 1, end, major);
  if (read.ec != std::errc{}) return std::nullopt;
  if (read.ptr != end && *read.ptr == '.') std::from_chars(read.ptr + 1, end, minor);
  return std::pair{name.substr(0, dash + 1), 100 * std::clamp(major, 0, 10000) + std::clamp(minor, 0, 99)};
}

/// The release of the same library that is nearest in number; empty where it is not one of ours.
std::string nearest_release(const std::string& name, const std::vector<std::string>& known) {
  const auto wanted = release_of(name);
  std::string nearest;
  int least = 0;
  for (const std::string& candidate : known) {
    const auto release = release_of(candidate);
    if (!wanted || !release || release->first != wanted->first) continue;
    const int distance = std::abs(release->second - wanted->second);
    if (!nearest.empty() && distance >= least) continue;
    nearest = candidate;
    least = distance;
  }
  return nearest;
}

[[noreturn]] void refuse_device(const Library& library, const Device& device, const Value& where) {
  if (!library.generations.empty()) {
    where.fail(
        fmt::format("a library for {}", device.name), quoted(library.name),
        fmt::format("; it runs on processors and on GPUs of generation {}", fmt::join(library.generations, ", ")));
  }
  const std::string stack = name(library.needs);
  where.fail("a library for devices without " + stack, fmt::format("{} with {}", quoted(library.name), device.name),
             fmt::format("; a {} device has a {} in its file", stack,
                         quoted(library.needs == DeviceStack::cuda ? "compute_capability" : "gfx")));
}

}  // namespace

DeviceKind kind_of(const Device& device) {
  return {device.compute_capability, device.gfx, device.generation};
}

std::optional<Algorithm> find_algorithm_or_library(Operation operation, const std::string& name) {
  if (const Algorithm* found = find_algorithm(operation, name)) return *found;
  if (name == of_the_transport) return Algorithm{operation, name, "what the transport's own library picks", {}};
  const Library* library = find_library(name);
  if (library == nullptr || !has(*library, operation)) return std::nullopt;
  return Algorithm{operation, library->name, library->summary, {}};
}

std::string hint_for_algorithm(Operation operation, const std::string& name) {
  std::vector<std::string> known = libraries_with(operation);
  const std::string release = nearest_release(name, known);
  if (!release.empty()) return fmt::format("; did you mean \"{}\"?", release);
  std::ranges::move(algorithm_names(operation), std::back_inserter(known));
  known.emplace_back(of_the_transport);
  return suggestion(name, known);
}

LibraryUse use_library(const Algorithm& algorithm, const Transport& transport, const Device& device,
                       const Value& where) {
  const Operation operation = algorithm.operation;
  const bool is_open = algorithm.name == of_the_transport;
  if (is_open && transport.library.empty()) {
    where.fail("the name of a library, as the topology's transport has none", quoted(algorithm.name),
               fmt::format("; known: {}", fmt::join(libraries_with(operation), ", ")));
  }
  const Library* library = find_library(is_open ? transport.library : algorithm.name);
  if (library == nullptr || !has(*library, operation)) {
    where.fail(fmt::format("a library that has {}", name(operation)),
               fmt::format("the transport's {}", quoted(transport.library)),
               fmt::format("; known: {}", fmt::join(libraries_with(operation), ", ")));
  }
  if (!can_run(*library, kind_of(device))) refuse_device(*library, device, where);
  return {library, kind_of(device)};
}

DefaultCollective without_library(const Algorithm& plain, const Transport& transport, const std::string& why) {
  return {plain, {}, fmt::format("{} instead of {}: {}", plain.name, transport.library, why)};
}

DefaultCollective default_collective(const Algorithm& plain, const Transport& transport, const Device& device) {
  if (transport.library.empty()) return {plain};
  const Library* library = find_library(transport.library);
  if (library == nullptr) return without_library(plain, transport, "no such library is known");
  if (!has(*library, plain.operation)) {
    return without_library(plain, transport, fmt::format("it has no {}", name(plain.operation)));
  }
  if (!can_run(*library, kind_of(device))) {
    return without_library(plain, transport,
                           library->generations.empty()
                               ? fmt::format("it needs {}, which {} has not", name(library->needs), device.name)
                               : fmt::format("it does not run on {}", device.name));
  }
  return {{plain.operation, library->name, library->summary, {}}, {library, kind_of(device), true}, {}};
}

namespace {

/// Fails where the library of that pointer is not one of those that `is_meant`; `what` it should be.
template <class Meant>
void refuse_other(const Document& topology, const char* pointer, const char* what, Meant is_meant) {
  const auto named = topology.find(pointer);
  if (!named) return;
  const auto name = read<std::string>(*named);
  const bool is_own_file = library_name(name) != name;
  std::error_code none;
  if (is_meant(name) && (is_own_file ? find_library(name) != nullptr : exists(library_path(name), none))) return;
  if (is_own_file && is_meant(name)) named->fail(what, quoted(name), "; there is no such file");
  const std::vector<std::string> known = those_of(library_names(), is_meant);
  if (known.empty()) named->fail(what, quoted(name), "; there is none in topologies/libraries of the data");
  const std::string release = nearest_release(name, known);
  named->fail(what, quoted(name),
              release.empty() ? fmt::format("; known: {}", fmt::join(known, ", "))
                              : fmt::format("; did you mean \"{}\"?", release));
}

}  // namespace

const Library& mpi_of_hosts(const Platform& platform) {
  return *find_library(platform.mpi ? platform.mpi->library : "openmpi-4");
}

void refuse_unknown_library(const Document& topology) {
  const auto named = topology.find("/transport/library");
  const bool is_none = named && read<std::string>(*named).empty();
  if (!is_none) refuse_other(topology, "/transport/library", "a library", [](const std::string&) { return true; });
  refuse_other(topology, "/transport/mpi/library", "an MPI", is_mpi);
}

}}  // namespace farandole::scenario
