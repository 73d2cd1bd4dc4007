// What one collective of one size took, with what it was carried out and on which links.
//
// A point of `farandole collective`, and the part of one of `farandole bench` that is measured. All numbers are SI.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "timeline/fields.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

/// How busy one link was.
struct LinkUse {
  std::string name;
  Bytes bytes;
  BytesPerSecond capacity;
  double utilisation = 0;  // of its capacity over the time

  static void fields(auto& link, auto& visit) {
    visit("name", link.name);
    visit("bytes", link.bytes);
    visit("capacity", link.capacity);
    visit("utilisation", link.utilisation);
  }
};

/// What a communication library picked for one collective.
struct LibraryChoice {
  std::string algorithm;
  std::string protocol;  // NCCL's: LL, LL128 or Simple; empty where the library has none
  int channels = 1;

  static void fields(auto& choice, auto& visit) {
    visit("chosen_algorithm", choice.algorithm, {.property = 4});
    visit("protocol", choice.protocol, {.property = 5});
    visit("channels", choice.channels, {.property = 6});
  }
};

/// A point of `farandole collective`; of `farandole bench` it is a part (timeline/measured.hpp).
struct CollectivePoint {
  std::string operation;
  std::string algorithm;
  int ranks = 1;
  Bytes bytes;
  Seconds time;
  BytesPerSecond algorithm_bandwidth;
  BytesPerSecond bus_bandwidth;
  std::string fidelity;
  bool folded = false;
  int root = 0;                           // of operations that have one
  int servers = 0;                        // of a parameter server
  std::optional<LibraryChoice> choice{};  // where `algorithm` is a library
  std::vector<LinkUse> links{};           // the busiest, where they were asked for

  /// What was measured has no fidelity, and is never folded.
  static void fields(auto& point, auto& visit) {
    const bool is_simulated = !point.fidelity.empty();
    visit("op", point.operation, {.property = 2});
    visit("algorithm", point.algorithm, {.property = 3});
    visit("ranks", point.ranks, {.property = 7});
    visit("bytes", point.bytes);
    visit("seconds", point.time);
    visit("algorithm_bandwidth", point.algorithm_bandwidth);
    visit("bus_bandwidth", point.bus_bandwidth);
    visit("fidelity", point.fidelity, {.stated = is_simulated, .property = 10});
    visit("folded", point.folded, {.stated = is_simulated, .property = 9});
    visit("servers", point.servers, {.property = 8, .usual = "0"});
    visit.part(point.choice);
    visit("links", point.links, {.stated = !point.links.empty(), .in_rows = false});
    visit.unwritten(point.root);
  }
};

}}  // namespace farandole::timeline
