#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "collective/files/xml.hpp"
#include "platform/sections.hpp"
#include "platform/topologies/graph.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace platform {
namespace {

[[noreturn]] void refuse(const XmlElement& element, const std::string& expected, const std::string& got) {
  throw InputError(element.place, expected, got);
}

std::string attribute(const XmlElement& element, const std::string& name, const std::string& fallback) {
  return element.attributes.contains(name) ? element.text(name) : fallback;
}

/// `text` with SimGrid's word for a unit replaced by ours.
std::string with_unit(std::string text, std::string_view theirs, std::string_view ours) {
  if (text.ends_with(theirs)) text.replace(text.size() - theirs.size(), theirs.size(), ours);
  return text;
}

template <class T>
T quantity(const XmlElement& element, const std::string& text) {
  const auto parsed = parse_quantity<T>(text);
  if (const auto* mismatch = std::get_if<UnitMismatch>(&parsed)) refuse(element, mismatch->expected, mismatch->got);
  return std::get<T>(parsed);
}

/// The ways of all pairs of hosts are kept.
constexpr std::size_t most_points = 4096;

class PlatformReader {
 public:
  RouteTable read(const XmlElement& platform) {
    const XmlElement& zone = zone_of(platform);
    const std::string& routing = zone.text("routing");
    constexpr std::array graphs{"Floyd", "Dijkstra", "DijkstraCache"};
    is_graph_ = std::ranges::find(graphs, routing) != graphs.end();
    if (!is_graph_ && routing != "Full") refuse(zone, "routing Full, Floyd or Dijkstra", quoted(routing));
    for (const XmlElement& element : zone.children) {
      if (element.name == "host" || element.name == "router") add_point(element);
      if (element.name == "link") add_link(element);
    }
    for (const XmlElement& element : zone.children) {
      constexpr std::array known{"host", "router", "link", "route", "prop"};
      if (std::ranges::find(known, element.name) == known.end()) {
        refuse(element, "hosts, routers, links and routes", "<" + element.name + ">");
      }
      if (element.name == "route") add_route(element);
    }
    fill_ways(zone);
    return std::move(table_);
  }

 private:
  /// A route of the file, in the direction in which it is to be taken.
  struct Leg {
    std::size_t to;
    Path links;
  };

  [[nodiscard]] static const XmlElement& zone_of(const XmlElement& platform) {
    if (platform.name != "platform") refuse(platform, "a <platform> of SimGrid", "<" + platform.name + ">");
    if (platform.children.size() != 1) {
      refuse(platform, "one zone", fmt::format("{} elements", platform.children.size()));
    }
    const XmlElement& zone = platform.children.front();
    if (zone.name != "zone" && zone.name != "AS") refuse(zone, "a <zone>", "<" + zone.name + ">");
    return zone;
  }

  void add_point(const XmlElement& element) {
    if (!hosts_.try_emplace(element.text("id"), legs_.size()).second) {
      refuse(element, "a name that is not taken yet", quoted(element.text("id")));
    }
    is_host_.push_back(element.name == "host");
    if (is_host_.size() > most_points)
      refuse(element, fmt::format("at most {} hosts and routers", most_points), "more");
    if (is_host_.back()) table_.hosts.push_back(element.text("id"));
    legs_.emplace_back();
  }

  void add_link(const XmlElement& element) {
    const std::string policy = attribute(element, "sharing_policy", "SHARED");
    if (policy != "SHARED" && policy != "SPLITDUPLEX") {
      refuse(element, "the sharing policy SHARED or SPLITDUPLEX", quoted(policy));
    }
    const std::string rate = with_unit(with_unit(element.text("bandwidth"), "Bps", "B/s"), "bps", "bit/s");
    const auto capacity = quantity<BytesPerSecond>(element, rate);
    if (capacity < least_link_rate) refuse(element, least_link_rate_text, quoted(element.text("bandwidth")));
    const auto latency = quantity<Seconds>(element, attribute(element, "latency", "0s"));
    const std::string& name = element.text("id");
    if (!links_.try_emplace(name, static_cast<int>(table_.links.size())).second) {
      refuse(element, "a name that is not taken yet", quoted(name));
    }
    const bool split = policy == "SPLITDUPLEX";
    for (const char* direction : {"/up", "/down"}) {
      table_.links.push_back({split ? name + direction : name, capacity, latency, capacity});
      is_split_.push_back(split);
      if (!split) break;
    }
  }

  void add_route(const XmlElement& element) {
    const std::size_t from = point(element, "src");
    const std::size_t to = point(element, "dst");
    Path there;
    Path back;
    for (const XmlElement& crossing : element.children) {
      if (crossing.name != "link_ctn") refuse(crossing, "<link_ctn>", "<" + crossing.name + ">");
      there.push_back(link(crossing, false));
      back.insert(back.begin(), link(crossing, true));
    }
    Path once = there;
    std::ranges::sort(once);
    if (std::ranges::adjacent_find(once) != once.end()) refuse(element, "every link once", "one of them again");
    const std::string symmetrical = attribute(element, "symmetrical", "YES");
    legs_[from].push_back({to, std::move(there)});
    if (symmetrical != "NO" && symmetrical != "no") legs_[to].push_back({from, std::move(back)});
  }

  [[nodiscard]] std::size_t point(const XmlElement& element, const std::string& attribute) const {
    const auto found = hosts_.find(element.text(attribute));
    if (found == hosts_.end()) refuse(element, "a host or a router of the zone", quoted(element.text(attribute)));
    return found->second;
  }

  [[nodiscard]] int link(const XmlElement& crossing, bool backwards) const {
    const auto found = links_.find(crossing.text("id"));
    if (found == links_.end()) refuse(crossing, "a link of the zone", quoted(crossing.text("id")));
    if (!is_split_[static_cast<std::size_t>(found->second)]) return found->second;
    const std::string direction = attribute(crossing, "direction", "none");
    if (direction != "UP" && direction != "DOWN") refuse(crossing, "the direction UP or DOWN", quoted(direction));
    return found->second + ((direction == "DOWN") != backwards ? 1 : 0);
  }

  void fill_ways(const XmlElement& zone) {
    std::vector<std::size_t> points;  // of the hosts
    for (std::size_t at = 0; at < is_host_.size(); ++at) {
      if (is_host_[at]) points.push_back(at);
    }
    table_.ways.resize(points.size() * points.size());
    for (std::size_t from = 0; from < points.size(); ++from) {
      std::vector<Path> ways(legs_.size());
      if (is_graph_) ways = ways_to_all(points[from]);
      if (!is_graph_) {
        for (const Leg& leg : legs_[points[from]]) ways[leg.to] = leg.links;
      }
      for (std::size_t to = 0; to < points.size(); ++to) {
        if (from == to) continue;
        if (ways[points[to]].empty()) {
          refuse(zone, "a way between all hosts",
                 fmt::format("none from {} to {}", table_.hosts[from], table_.hosts[to]));
        }
        table_.way(from, to) = ways[points[to]];
      }
    }
  }

  /// Of the shortest ways, the one whose last point but one is nearest, or listed first.
  [[nodiscard]] std::vector<Path> ways_to_all(std::size_t from) const {
    constexpr auto unreached = std::numeric_limits<std::size_t>::max();
    std::vector<Path> ways(legs_.size());
    std::vector<std::size_t> distance(legs_.size(), unreached);
    std::set<std::pair<std::size_t, std::size_t>> next{{0, from}};  // the nearest of the points first reached
    distance[from] = 0;
    while (!next.empty()) {
      const std::size_t nearest = next.begin()->second;
      next.erase(next.begin());
      for (const Leg& leg : legs_[nearest]) {
        const std::size_t there = distance[nearest] + leg.links.size();
        if (distance[leg.to] <= there) continue;
        next.erase({distance[leg.to], leg.to});
        next.emplace(there, leg.to);
        distance[leg.to] = there;
        ways[leg.to] = ways[nearest];
        ways[leg.to].insert(ways[leg.to].end(), leg.links.begin(), leg.links.end());
      }
    }
    return ways;
  }

  RouteTable table_;
  bool is_graph_ = false;                     // routes are edges, ways are found
  std::map<std::string, std::size_t> hosts_;  // and routers, by their place in legs_
  std::vector<bool> is_host_;
  std::vector<std::vector<Leg>> legs_;
  std::map<std::string, int> links_;  // of a SPLITDUPLEX link the way up; the way down follows
  std::vector<bool> is_split_;
};

}  // namespace

RouteTable parse_simgrid(std::string_view text, const std::string& source) {
  return PlatformReader().read(parse_xml(text, source));
}

}}  // namespace farandole::platform
