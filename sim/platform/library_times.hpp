// What a communication library's collectives take on a machine, as measured there: piece by piece of their sizes.
//
// Part of a topology's transport ("library_times", which farandole calibrate writes); used by the libraries of
// simulate/ in place of their own cost model. A piece begins where the library changes algorithm or protocol and takes
//
//   latency + size / rate
//
// where nothing else is on the network. Pieces are in order of size, the first begins at 0 bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "config/document.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace platform {

struct LibraryPiece {
  Bytes from;
  std::string algorithm;  // as NCCL calls it: "tree", "ring", "collnet_direct", "collnet_chain", "nvls", ...
  std::string protocol;   // "LL", "LL128", "Simple"
  Seconds latency;
  BytesPerSecond rate;
};

/// What the library found on the machine as it was measured, whatever its links have been changed to since.
struct MeasuredLinks {
  int nvlinks = 0;     // of a device; 0: the way inside a node, if there is one, is PCIe
  BytesPerSecond pci;  // 0: nobody else is inside the node
  int nics = 0;        // of a node, at `nic`; 0 on a single node
  BytesPerSecond nic;
};

struct LibraryTimes {
  std::string library;  // "nccl-2.18"
  Operation operation = Operation::allreduce;
  int ranks = 2;
  int nodes = 1;
  int devices_per_process = 1;  // that one process drove
  std::string table{};          // of scenarios/published/collectives, which they were fitted to; empty: none of them
  std::optional<MeasuredLinks> links{};  // empty: those of the run, but for the scale of the network
  std::vector<LibraryPiece> pieces{};

  [[nodiscard]] const LibraryPiece& piece_of(Bytes size) const;
};

std::vector<LibraryTimes> read_library_times(const Value& list);

}}  // namespace farandole::platform
