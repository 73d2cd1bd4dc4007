#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/effective_settings.hpp"
#include "simulate/library/nccl_measured.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr std::string_view of_libraries = "/transport/library_times/";
constexpr std::string_view of_messages = "/transport/";
constexpr std::string_view of_mpi = "/transport/mpi/";

enum class Use { full, followed, none };

/// What was fitted, in one word, and whether it was made use of.
struct Part {
  std::string what;
  Use use = Use::none;
};

/// What was measured of the operation itself counts; of another one only where both go the same way.
Use use_of(const LibraryTimes& times, const CarriedOut& what, const std::vector<const LibraryTimes*>& taken) {
  if (std::ranges::find(taken, &times) == taken.end()) return Use::none;
  return times.operation == what.operation ? Use::full : Use::followed;
}

/// Of nccl-tests.
std::string program_that_measures(Operation operation) {
  std::string name = farandole::name(operation);
  if (name.starts_with("all")) name.insert(3, "_");
  return name + "_perf -b 8 -e 4G -f 2";
}

/// Times of its own in place of links and messages: NCCL from 2.5 on.
bool has_own_times(const CarriedOut& what) {
  return what.library.library != nullptr && what.library.library->ways;
}

std::vector<const LibraryTimes*> taken_by(const CarriedOut& what, const Transport& transport) {
  // What pairs send one another in an alltoall is timed as messages (simulate/library/nccl_route.hpp).
  if (!has_own_times(what) || what.operation == Operation::alltoall) return {};
  return times_for(transport.library_times, {what.library.library->name, what.operation, what.ranks, what.nodes});
}

std::string name_of(const LibraryTimes& times) {
  return fmt::format("{} of {}, {} ranks on {} node{}", name(times.operation), times.library, times.ranks, times.nodes,
                     times.nodes == 1 ? "" : "s");
}

/// The entry of library_times that a pointer goes into.
std::size_t entry_of(const std::string& pointer) {
  return static_cast<std::size_t>(std::strtoul(pointer.c_str() + of_libraries.size(), nullptr, 10));
}

std::vector<Part> parts_of(const CalibrationRecord& record, const Transport& transport, const CarriedOut& what) {
  std::vector<Part> parts;
  const auto taken = taken_by(what, transport);
  const auto add = [&parts](Part part) {
    const auto same = [&](const Part& other) { return other.what == part.what; };
    if (std::ranges::none_of(parts, same)) parts.push_back(std::move(part));
  };
  for (const std::string& pointer : record.fitted) {
    if (pointer.starts_with(of_libraries)) {
      if (entry_of(pointer) >= transport.library_times.size()) continue;
      const LibraryTimes& times = transport.library_times[entry_of(pointer)];
      add({name_of(times), use_of(times, what, taken)});
    } else if (pointer.starts_with(of_mpi)) {
      add({"latencies of MPI's messages", what.by_mpi ? Use::full : Use::none});
    } else if (pointer.starts_with(of_messages)) {
      add({"latencies of messages", !has_own_times(what) && !what.by_mpi ? Use::full : Use::none});
    } else {
      add({"links", Use::full});
    }
  }
  return parts;
}

std::string list(const std::vector<Part>& parts, Use use) {
  std::vector<std::string> texts;
  for (const Part& part : parts) {
    if (part.use == use) texts.push_back(part.what);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string origin(const CalibrationRecord& record) {
  std::string text = fmt::format("{}", fmt::join(record.sources, ", "));
  const bool is_dated = !record.date.empty() && record.date != "not given";
  if (is_dated) text += " of " + record.date;
  if (!record.median.empty()) text += ", median error left " + record.median;
  return text + (record.forced ? ", written by --force in spite of it" : "");
}

}  // namespace

bool has_other_messages(const LibraryUse& use, const std::optional<Transport>& mpi) {
  return mpi && use.library != nullptr && use.library->mpi != nullptr;
}

std::string describe_use(const CalibrationRecord& record, const Transport& transport, const CarriedOut& what) {
  if (what.ranks == 1) return origin(record) + "; not used by one rank, which sends nothing";
  const auto parts = parts_of(record, transport, what);
  const std::string used = list(parts, Use::full);
  const std::string unused = list(parts, Use::none);
  std::string text = origin(record);
  if (!used.empty()) text += fmt::format("; used by {}: {}", what.by, used);
  if (const std::string followed = list(parts, Use::followed); !followed.empty()) {
    text += fmt::format(
        "; nothing measured of {}, which follows what was measured only where it goes the same way: {}; {} measures it",
        name(what.operation), followed, program_that_measures(what.operation));
  }
  if (!unused.empty()) text += fmt::format("; not used by {}: {}", what.by, unused);
  return text;
}

}}  // namespace farandole::scenario
