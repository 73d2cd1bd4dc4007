// What may slow a job down, each a change of its scenario: what `farandole diagnose` weighs.
//
// A suspect says how likely it is before anything was measured (relative to the others; assumed, no record of causes is
// published), where to look for it on the machine, and how bad it may be, each severity as likely. Only what the job's
// machine and strategy can have is a suspect: no rail is down where a node has one NIC.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/catalogue.hpp"
#include "timeline/explanation.hpp"

namespace farandole {

struct Severity {
  std::string text;           // "at 50 %"
  std::vector<SetValue> set;  // what makes the scenario so
  // What is left of the rate of the slowest NIC by itself, of copies from the host to a device, and of the speed of
  // every device.
  double nic_rate = 1;
  double copy_rate = 1;
  double speed = 1;
};

struct Suspect {
  std::string name;  // a word, for --rule-out
  std::string says;
  double prior = 1;
  std::string look;  // a command, or a place
  std::vector<Severity> severities;
  bool is_a_scale = true;  // as likely between two severities as at them
  bool is_between_kernels = false;
  bool is_of_last_node = false;  // so that a run on fewer ranks, which has the first nodes, does not meet it
};

/// The job of a scenario's only configuration on so many ranks, of so many on a node.
struct SuspectedJob {
  const Document& document;
  const Catalogue& catalogue;
  int ranks = 1;
  int nodes = 1;
  double samples_per_second = 1;  // as it should be
  double step_seconds = 1;
};

struct Suspects {
  std::vector<Suspect> list;
  // Of the machine as it should be, bytes per second; none where its file does not say.
  std::optional<double> nic_rate;
  std::optional<double> copy_rate;
};

Suspects suspects_of(const SuspectedJob& job);

}  // namespace farandole
