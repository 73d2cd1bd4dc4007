// The settings a result depends on, printed with it: what was asked for and what the program filled in.
#pragma once

#include <optional>
#include <string>

#include "platform/topology.hpp"
#include "scenario/library_choice.hpp"
#include "scenario/scenario.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace scenario {

/// 0.025 is "2.5 %".
std::string setting_of_share(double share);

/// What is wrong with links just now; nothing where all are as built.
void add_condition(Settings& settings, const Condition& condition);

/// What every message costs.
void add_transport(Settings& settings, const Transport& transport);

/// What messages of MPI cost, where an MPI carries something out on a machine whose transport is another library's;
/// that nothing is known of it, where that is so.
void add_mpi(Settings& settings, const Transport& transport, const std::optional<Transport>& mpi);

Settings effective_settings(const Scenario& scenario);

/// What an algorithm leaves unused of the machine, in a sentence for people; nothing where it leaves nothing, and where
/// a library chooses.
std::optional<std::string> note_on_nics(const Scenario& scenario);

/// Adds the settings of another point; where points differ, all values are listed.
void merge_settings(Settings& all, const Settings& more);

// What a result says of the calibration of its topology: which it was, and how much of it the collectives made use of.
//
// A file may hold rates and latencies of links and messages, which everything that is timed message by message takes,
// and times of a library's collectives, which that release alone takes, for the operations they were measured of. A
// calibration that the chosen algorithm passes over would be a number that someone trusts for nothing; so that is said,
// and with which command an operation is measured that only follows another one.

struct CarriedOut {
  Operation operation;
  std::string by;      // as results name it
  LibraryUse library;  // where a library does it
  int ranks = 1;
  int nodes = 1;
  bool by_mpi = false;  // by an MPI whose messages are not the transport's
};

bool has_other_messages(const LibraryUse& use, const std::optional<Transport>& mpi);

/// "measured.json of 2026-11-21, median error left 1.03 %; used by nccl-2.18: times of nccl-2.18".
std::string describe_use(const CalibrationRecord& record, const Transport& transport, const CarriedOut& what);

}}  // namespace farandole::scenario
