#include "platform/condition.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "config/document.hpp"
#include "platform/platform.hpp"
#include "platform/sections.hpp"
#include "platform/topologies/wiring.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace platform {
namespace {

struct Hop {
  int to = 0;  // a switch
  int link = 0;
};

/// What still works, and the ways from before.
struct Remains {
  std::vector<std::vector<Hop>> hops;  // from every switch
  std::vector<bool> has_failed;        // by link
  std::vector<int> switch_of_nic;
  std::function<Paths(int, int)> before;
  std::function<WayChoice(int, int)> choice_before;  // may be empty

  /// Hops from every switch to one, -1 where there is no way. Cables work both ways, so it is as far back.
  [[nodiscard]] std::vector<int> distances_to(int target) const { return distances_from(target, hops, &Hop::to); }

  [[nodiscard]] Path shortest(int from_nic, int to_nic) const {
    constexpr std::uint64_t seed = 1;
    const int target = switch_of_nic[static_cast<std::size_t>(to_nic)];
    const std::vector<int> distance = distances_to(target);
    Path path;
    for (int at = switch_of_nic[static_cast<std::size_t>(from_nic)]; at != target;) {
      std::vector<Hop> nearer;
      for (const Hop& hop : hops[static_cast<std::size_t>(at)]) {
        const bool is_nearer = distance[static_cast<std::size_t>(hop.to)] + 1 == distance[static_cast<std::size_t>(at)];
        if (is_nearer) nearer.push_back(hop);
      }
      const Hop& hop = nearer[flow_hash(seed, from_nic, to_nic, static_cast<int>(path.size())) % nearer.size()];
      path.push_back(hop.link);
      at = hop.to;
    }
    return path;
  }

  [[nodiscard]] Paths paths(int from_nic, int to_nic) const {
    Paths ways = before(from_nic, to_nic);
    leave_out_failed(ways);
    if (ways.empty()) ways.push_back(shortest(from_nic, to_nic));
    return ways;
  }

  [[nodiscard]] WayChoice choice(int from_nic, int to_nic) const {
    WayChoice choice = choice_before(from_nic, to_nic);
    leave_out_failed(choice.minimal);
    leave_out_failed(choice.other);
    if (choice.minimal.empty()) choice.minimal.swap(choice.other);
    if (choice.minimal.empty()) choice.minimal.push_back(shortest(from_nic, to_nic));
    return choice;
  }

  void leave_out_failed(Paths& ways) const {
    std::erase_if(ways, [&](const Path& path) {
      return std::ranges::any_of(path, [&](int link) { return has_failed[static_cast<std::size_t>(link)]; });
    });
  }
};

/// What is left of every bundle; one of which nothing is left has failed, too.
void leave_out_failed_members(Network& network, std::vector<bool>& has_failed) {
  for (Bundle& bundle : network.bundles) {
    std::erase_if(bundle.members, [&](int link) { return has_failed[static_cast<std::size_t>(link)]; });
    if (bundle.members.empty()) has_failed[static_cast<std::size_t>(bundle.link)] = true;
  }
}

/// NICs that meet must reach one another: all, or those of each rail.
void check_nics_joined(const Remains& remains, const Platform& platform, std::size_t failures, const Value& where) {
  const int nics = static_cast<int>(platform.node.nics.size());
  const int rails = platform.network.rails_apart ? nics : 1;
  for (int rail = 0; rail < rails; ++rail) {
    const auto distance = remains.distances_to(remains.switch_of_nic[static_cast<std::size_t>(rail)]);
    for (int nic = rail; nic < platform.nodes * nics; nic += rails) {
      const int at = remains.switch_of_nic[static_cast<std::size_t>(nic)];
      if (distance[static_cast<std::size_t>(at)] >= 0) continue;
      where.fail("a way between all nodes",
                 fmt::format("none from node 0 to node {}, with {} failed cables", nic / nics, failures));
    }
  }
}

/// Ways round failed cables.
///
/// Called by platform/condition.hpp. Of the ways that the network would take, those over a failed cable are given up
/// and the others carry their share; where none is left, a shortest way over what still works is taken, one of several
/// by a hash of the pair. Real networks do so once their routing tables have converged.
///
/// Takes the cables, numbers in rising order, out of the network. Fails at `where` when two nodes are parted.
void go_round(const std::vector<int>& failed_cables, Platform& platform, const Value& where) {
  Network& network = platform.network;
  auto remains = std::make_shared<Remains>();
  remains->hops.resize(network.switches.size());
  remains->has_failed.resize(platform.links.size(), false);
  remains->switch_of_nic = network.switch_of_nic;
  std::vector<Cable> cables;
  for (std::size_t number = 0; number < network.cables.size(); ++number) {
    const Cable& cable = network.cables[number];
    if (std::ranges::binary_search(failed_cables, static_cast<int>(number))) {
      for (const int link : {cable.there, cable.back}) remains->has_failed[static_cast<std::size_t>(link)] = true;
      continue;
    }
    cables.push_back(cable);
    remains->hops[static_cast<std::size_t>(cable.from)].push_back({cable.to, cable.there});
    remains->hops[static_cast<std::size_t>(cable.to)].push_back({cable.from, cable.back});
  }
  check_nics_joined(*remains, platform, failed_cables.size(), where);
  network.cables = std::move(cables);
  network.alike_after = 0;
  network.never_full = nullptr;
  remains->before = std::exchange(network.paths, nullptr);
  network.paths = [remains](int from, int to) { return remains->paths(from, to); };
  leave_out_failed_members(network, remains->has_failed);
  if (!network.choice) return;
  remains->choice_before = std::exchange(network.choice, nullptr);
  network.choice = [remains](int from, int to) { return remains->choice(from, to); };
}

/// Members whose keys are patterns; what is allowed in every object is none.
template <class T>
std::vector<std::pair<std::string, T>> read_patterns(const Value& value, T (*read_one)(const Value&)) {
  std::vector<std::pair<std::string, T>> patterns;
  for (const auto& [pattern, member] : listed_members(value)) {
    if (pattern == "source") {
      (void)read<std::string>(member);
    } else {
      patterns.emplace_back(pattern, read_one(member));
    }
  }
  return patterns;
}

std::shared_ptr<const CongestionCurve> read_curve(const Value& value) {
  std::vector<CongestionCurve::Point> points;
  double flows = 1;
  double left = 1;
  for (const Value& element : value.elements()) {
    Section section = sourced(element);
    const Value flows_value = section.child("flows");
    const Value left_value = section.child("left");
    section.finish();
    const CongestionCurve::Point point{static_cast<double>(read_at_least(flows_value, 2)), read_part(left_value)};
    if (point.flows <= flows) flows_value.fail("more flows than in the point before");
    if (point.left > left) left_value.fail("no more than is left of fewer flows");
    flows = point.flows;
    left = point.left;
    points.push_back(point);
  }
  if (points.empty()) value.fail("at least one point, such as {\"flows\": 8, \"left\": \"80 %\"}");
  return std::make_shared<const CongestionCurve>(std::move(points));
}

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*') {
    return !text.empty() && pattern.front() == text.front() && matches(pattern.substr(1), text.substr(1));
  }
  const std::string_view rest = pattern.substr(1);
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (matches(rest, text.substr(skipped))) return true;
  }
  return false;
}

[[noreturn]] void fail_unmatched(const Value& where, const std::string& what, const std::string& pattern) {
  where.fail(fmt::format("{} that \"{}\" of a \"condition\" names", what, pattern), "none");
}

/// Calls `change` for every link that the pattern names.
template <class Change>
void change_links(const std::string& pattern, Platform& platform, const Value& where, Change change) {
  bool found = false;
  for (Link& link : platform.links) {
    if (!is_named_by(pattern, link.name)) continue;
    found = true;
    change(link);
  }
  if (!found) fail_unmatched(where, "a link", pattern);
}

/// The numbers of the cables that have failed, in order.
std::vector<int> failed_cables(const Condition& condition, const Platform& platform, const Value& where) {
  std::vector<int> failed;
  for (const std::string& pattern : condition.failed) {
    const std::size_t before = failed.size();
    for (std::size_t cable = 0; cable < platform.network.cables.size(); ++cable) {
      const int there = platform.network.cables[cable].there;
      if (is_named_by(pattern, platform.links[static_cast<std::size_t>(there)].name)) {
        failed.push_back(static_cast<int>(cable));
      }
    }
    if (failed.size() == before) fail_unmatched(where, "a cable between switches", pattern);
  }
  std::ranges::sort(failed);
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  return failed;
}

}  // namespace

Condition read_condition(const Value& value) {
  Section section = sourced(value);
  Condition condition;
  if (const auto degraded = section.maybe("degraded")) condition.degraded = read_patterns(*degraded, read_part);
  if (const auto background = section.maybe("background")) {
    condition.background = read_patterns(*background, read<BytesPerSecond>);
  }
  if (const auto congestion = section.maybe("congestion")) {
    condition.congestion = read_patterns(*congestion, read_curve);
  }
  condition.failed = section.optional<std::vector<std::string>>("failed", {});
  section.finish();
  return condition;
}

void Condition::add(const Condition& other) {
  degraded.insert(degraded.end(), other.degraded.begin(), other.degraded.end());
  background.insert(background.end(), other.background.begin(), other.background.end());
  congestion.insert(congestion.end(), other.congestion.begin(), other.congestion.end());
  failed.insert(failed.end(), other.failed.begin(), other.failed.end());
}

bool is_named_by(std::string_view pattern, const std::string& link) {
  const std::string_view name = link;
  if (matches(pattern, name)) return true;
  for (auto slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1)) {
    if (matches(pattern, name.substr(0, slash))) return true;
  }
  return false;
}

void apply(const Condition& condition, Platform& platform, const Value& where) {
  for (const auto& [pattern, rest] : condition.degraded) {
    change_links(pattern, platform, where, [rest = rest](Link& link) { link.capacity *= rest; });
  }
  for (const auto& [pattern, rate] : condition.background) {
    change_links(pattern, platform, where, [&, rate = rate](Link& link) {
      if (rate >= link.capacity) {
        where.fail(fmt::format("less background than the {} of {}", format(link.capacity), link.name), format(rate));
      }
      link.capacity -= rate;
    });
  }
  for (const auto& [pattern, curve] : condition.congestion) {
    change_links(pattern, platform, where, [&curve = curve](Link& link) { link.congestion = curve; });
  }
  const std::vector<int> failed = failed_cables(condition, platform, where);
  if (!failed.empty()) go_round(failed, platform, where);
  add_up_bundles(platform);
  const bool is_as_built = condition.degraded.empty() && condition.background.empty() && failed.empty();
  if (!is_as_built) platform.network.bisection = nullptr;  // the formula of the kind knows nothing of this
}

}}  // namespace farandole::platform
