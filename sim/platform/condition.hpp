// What is wrong with a platform's links just now: some are slower, some are in use by others, some lose to flows that
// converge, some cables have failed.
//
// Read from "condition" of a topology file, a scenario's platform or a command line, and applied by build() once
// everything is laid out. A pattern names every link whose name, or the beginning of it up to a slash, it is, with *
// for anything: "node3" is all of node 3, "leaf0-spine1" both directions of that cable, "*/nic1/up" what every node
// sends through its second NIC.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/section.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace platform {

struct Condition {
  std::vector<std::pair<std::string, double>> degraded;            // what is left of the rate
  std::vector<std::pair<std::string, BytesPerSecond>> background;  // traffic of others, which takes what it wants
  std::vector<std::pair<std::string, std::shared_ptr<const CongestionCurve>>> congestion;
  std::vector<std::string> failed;  // cables, both directions

  /// What the other says holds as well.
  void add(const Condition& other);
};

Condition read_condition(const Value& value);

bool is_named_by(std::string_view pattern, const std::string& link);

/// Fails at `where` when a pattern names nothing, when background leaves nothing of a link, and when failures leave
/// nodes without a way to others.
void apply(const Condition& condition, Platform& platform, const Value& where);

}}  // namespace farandole::platform
