#include "platform/launch_line.hpp"

#include <cstdint>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform {

std::string text_of(const std::pair<std::string, std::string>& option) {
  return option.second.empty() ? option.first : option.first + " " + option.second;
}

namespace {

using launch::Reading;
using launch::WrittenHost;

/// Each host once: one that is listed again adds its slots, and a host without a number counts one.
std::vector<WrittenHost> merged(const Reading& reading) {
  std::vector<WrittenHost> hosts;
  std::map<std::string, std::size_t> place_of;
  for (const WrittenHost& host : reading.hosts) {
    const auto [place, is_new] = place_of.emplace(host.name, hosts.size());
    if (is_new) {
      hosts.push_back(host);
    } else {
      WrittenHost& known = hosts[place->second];
      known.slots = known.slots.value_or(1) + host.slots.value_or(1);
      if (*known.slots > most_devices) {
        reading.where.fail("at most " + std::to_string(most_devices) + " slots of a host",
                           quoted(known.name + ":" + std::to_string(*known.slots)));
      }
    }
  }
  return hosts;
}

/// As many slots as may be used: ranks per node, where they are given, limit a host or number its slots.
Host usable(const WrittenHost& host, const Reading& reading) {
  if (!reading.ranks_per_node) return {host.name, host.slots.value_or(1)};
  const int ranks = *reading.ranks_per_node;
  if (host.slots && *host.slots < ranks) {
    reading.where.fail("hosts with slots for " + std::to_string(ranks) + " ranks per node",
                       quoted(host.name + ":" + std::to_string(*host.slots)));
  }
  return {host.name, ranks};
}

std::int64_t slots_of(const std::vector<Host>& hosts) {
  std::int64_t slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  return slots;
}

/// The ranks asked for, or all slots of the hosts where none are.
int ranks_of(const LaunchLine& line, const Reading& reading, std::string_view option) {
  const std::int64_t slots = slots_of(line.hosts);
  if (!reading.ranks && line.hosts.empty()) {
    reading.where.fail("the number of ranks after " + std::string(option),
                       "a line of " + line.launcher + " without it");
  }
  if (!line.hosts.empty() && reading.ranks.value_or(0) > slots) {
    reading.where.fail("at most " + std::to_string(slots) + " ranks, one per slot of the hosts",
                       std::to_string(*reading.ranks), "; a host without \":SLOTS\" has one slot");
  }
  if (!reading.ranks && slots > most_devices) {
    reading.where.fail("at most " + std::to_string(most_devices) + " slots", std::to_string(slots));
  }
  return reading.ranks.value_or(static_cast<int>(slots));
}

}  // namespace

LaunchLine parse_launch_line(std::string_view text, const Value& where, const TextReader& read_file) {
  auto [launcher, reading] = launch::read_line(text, where, read_file);
  LaunchLine line;
  line.launcher = launcher->name;
  for (const WrittenHost& host : merged(reading)) line.hosts.push_back(usable(host, reading));
  line.ranks = ranks_of(line, reading, launcher->counts);
  line.ranks_per_node = reading.ranks_per_node;
  line.by_node = reading.by_node;
  line.environment = std::move(reading.environment);
  line.ignored = std::move(reading.ignored);
  line.job = std::move(reading.job);
  return line;
}

Placement place(const LaunchLine& line, PlacementRule rule, const NodeLayout& layout, const Value& where) {
  if (line.by_node && rule.order.value_or(PlacementRule::Order::by_node) != PlacementRule::Order::by_node) {
    where.fail("a placement in the order of the launch line, by_node");
  }
  if (line.by_node) rule.order = PlacementRule::Order::by_node;
  const int wanted = line.ranks_per_node.value_or(rule.ranks_per_node.value_or(0));
  if (rule.ranks_per_node && *rule.ranks_per_node != wanted) {
    where.fail("the " + std::to_string(wanted) + " ranks per node of the launch line",
               std::to_string(*rule.ranks_per_node));
  }
  if (wanted > 0) rule.ranks_per_node = wanted;
  return place(rule, line.ranks, line.hosts, layout, where);
}

}}  // namespace farandole::platform
