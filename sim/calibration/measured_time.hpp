// One measured time: what was run, how large it was, how long it took, and where that is written.
//
// Made by the readers (calibration/readers/), used by the fit and by validation. Times are those of one operation; what
// `bytes` counts is what nccl-tests counts (collective/chunk_sizes.hpp), for `pingpong` and `exchange` the message.
#pragma once

#include <optional>
#include <string>

#include "config/error.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace calibration {

/// Operations between pairs, which calibrate but are no collectives: one message one way (half a round trip), and one
/// each way at the same time.
inline constexpr const char* pingpong = "pingpong";
inline constexpr const char* exchange = "exchange";

/// How single repetitions of one row scatter.
struct Repetitions {
  int count = 0;         // at least two
  double deviation = 0;  // standard deviation over their mean
};

struct MeasuredTime {
  Place place;            // file and line
  std::string family;     // what is measured together: the file's name, or the configuration a row names
  std::string operation;  // a collective's, or pingpong or exchange
  std::string algorithm;  // as Farandole spells it; empty: the file does not say
  int ranks = 0;          // 0: the file does not say
  std::optional<int> nodes;
  int devices_per_process = 1;  // that one process drove, launching NCCL's kernel for one after the other
  std::optional<bool> eager;    // whether messages of any size went out without a handshake
  int servers = 0;              // of a parameter server
  int segments = 0;             // of a pipeline; 0: as the algorithm sees fit
  Bytes bytes;
  bool is_share = false;  // `bytes` is one rank's part of the total; so only inside the readers
  Seconds time;           // median or mean, as the file has it
  std::optional<Seconds> fastest;
  std::optional<Seconds> slowest;
  std::optional<Repetitions> repetitions;
  std::optional<std::string> doubt;  // why the row is shown but not counted
};

/// What a file leaves out and the command line says instead.
struct FieldDefaults {
  std::string operation;
  std::string algorithm;
  std::optional<int> ranks;
  std::optional<int> nodes;
};

/// "allreduce ring, 4194304 bytes, 8 ranks", for tables and messages.
std::string row_name(const MeasuredTime& measurement);

}}  // namespace farandole::calibration
