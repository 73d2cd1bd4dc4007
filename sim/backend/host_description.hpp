// What a rank says of the machine it runs on; every session's description holds it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/endpoint.hpp"

namespace farandole { inline namespace backend {

/// "node17".
std::string host_name();
/// "Linux 6.1.0 x86_64".
std::string system_of_this_machine();
/// The processors this rank may run on: "0-3,8".
std::string binding();

/// Every rank's text, cut to 160 bytes, in order of rank; every rank calls it.
std::vector<std::string> everyones_text(Endpoint& endpoint, const std::string& text);

/// Nodes numbered in order of their first rank, by the names of their hosts; one per rank.
std::vector<int> nodes_by_host(Endpoint& endpoint);

// How busy the processors of this machine were while something was measured.
//
// A measurement on a machine whose processors are all busy is one of the processors, not of the network: results carry
// this number, and who compares them may leave such rows out. From /proc/stat, all processors and all processes; what a
// hypervisor took away counts as time, not as busy.

class ProcessorLoad {
 public:
  /// Since now.
  ProcessorLoad() : begin_(count()) {}

  /// From 0 to 1; empty where the system does not say, or too little time has passed to tell.
  [[nodiscard]] std::optional<double> share() const;

 private:
  struct Ticks {
    std::int64_t busy = 0;
    std::int64_t all = 0;
  };
  static Ticks count();

  Ticks begin_;
};

}}  // namespace farandole::backend
