// Which network a job needs: the least rate of a NIC, and the thinnest network behind the NICs, at which it does a
// share of what its devices could do.
//
// Called by `farandole network`. What its devices could do is what efficiency in every result is a share of: so many
// ranks, each as fast as one by itself. With another rate of NICs the links between switches become as many times
// faster or slower. A network whose file has no switches ("star") is thinned as leaves under spines. Every
// answer is a point of the same scenario with values put under /platform/override, which anybody may run by hand.
// Beside these: the job with fewer of the machine's NICs, and on every other machine of the catalogue with as many of
// the same devices in a node, as its file has it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenario/run.hpp"

namespace farandole {

inline constexpr double most_thinned = 16;

struct NetworkVariant {
  double relative = 1;  // rates of NICs to the file's own, or of what is behind them
  std::vector<SetValue> set;
  TrainingPoint point;
};

/// At which efficiency is reached, and at every larger rate and thicker network that was tried, too.
struct NetworkAnswer {
  double efficiency = 0;
  std::optional<NetworkVariant> rate;  // the least, to 2 %; empty: at no rate
  Interval
      band{};  // of `rate`, relative to the file's own, where the band's two ends reach it; infinite where one does not
  std::optional<NetworkVariant> thinnest;  // at the file's own rate of NICs
};

/// The same devices with other NICs, or another network.
struct OtherNetwork {
  std::string machine;
  int nics = 1;             // of a node
  BytesPerSecond nic;       // of each
  std::string transport{};  // empty: the file does not say
  std::vector<SetValue> set;
  TrainingPoint point;
};

struct NetworkNeed {
  BytesPerSecond nic;        // the file's own
  int nics = 1;              // of a node
  bool has_switches = true;  // in the machine's file
  TrainingPoint own;
  std::vector<NetworkVariant> rates;  // ascending
  std::vector<NetworkAnswer> answers;
  std::vector<OtherNetwork> others;  // the own machine's with fewer NICs first
  std::vector<std::string> notes;    // on what points leave unused of their machine, or do not see of it
  std::vector<std::string> refused;  // of other machines, why the job is not timed on them
};

/// The last configuration of `document`, which uses several nodes (InputError). Each of `targets` is above 0 and
/// below 1.
NetworkNeed network_need(const Document& document, const Catalogue& catalogue, const RunOptions& options,
                         std::span<const double> targets);

}  // namespace farandole
