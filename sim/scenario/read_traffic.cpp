#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "platform/condition.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/scenario.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace scenario {
namespace {

constexpr const char* constant = "constant";
constexpr const char* on_off = "on_off";
constexpr const char* job_key = "job";

std::string kind_of(const Value& traffic) {
  for (const auto& [key, value] : traffic.members()) {
    if (key != "kind") continue;
    auto kind = read<std::string>(value);
    if (kind != constant && kind != on_off && kind != job_key)
      value.fail_unknown("a kind of traffic", {constant, on_off, job_key});
    return kind;
  }
  traffic.fail("a key \"kind\"");
}

TimeDistribution read_stretch(const Value& where) {
  TimeDistribution time = read_time_distribution(where);
  if (time.mean <= Seconds(0)) where.fail("a time above 0");
  return time;
}

OnOffSpec read_on_off(const Value& where, const Platform& platform) {
  Section section(where);
  (void)section.child("kind");
  const Value pattern = section.child("links");
  OnOffSpec source;
  const auto text = read<std::string>(pattern);
  for (std::size_t link = 0; link < platform.links.size(); ++link) {
    if (is_named_by(text, platform.links[link].name)) source.links.push_back(static_cast<int>(link));
  }
  if (source.links.empty()) pattern.fail("a link's name, or a pattern of names");
  source.rate = section.above_zero<BytesPerSecond>("rate");
  source.on = read_stretch(section.child("on"));
  source.off = read_stretch(section.child("off"));
  section.finish();
  source.place = where.place();
  return source;
}

/// Even with all sources on, something of every link is left.
void check_rates(const TrafficSpec& traffic, const Platform& platform, const Value& where) {
  std::vector<BytesPerSecond> taken(platform.links.size());
  for (const OnOffSpec& source : traffic.on_off) {
    for (const int link : source.links) taken[static_cast<std::size_t>(link)] += source.rate;
  }
  for (std::size_t link = 0; link < taken.size(); ++link) {
    const Link& own = platform.links[link];
    if (taken[link] >= own.capacity) {
      where.fail(fmt::format("sources that leave something of the {} of {}", format(own.capacity), own.name),
                 format(taken[link]));
    }
  }
}

Node member(const Value& object, const std::string& key) {
  for (const auto& [name, value] : object.members()) {
    if (name == key) return value.node();
  }
  return {};
}

void add_unless_null(Node::Object& object, const std::string& key, Node node) {
  if (!std::holds_alternative<std::nullptr_t>(node.value)) object.push_back({key, std::move(node)});
}

/// The job as a scenario by itself on the same topology.
Node scenario_of(const Value& where, const Value& platform) {
  Node::Object own_platform;
  for (const char* key : {"topology", "override", "scale"}) add_unless_null(own_platform, key, member(platform, key));
  for (const char* key : {"ranks", "placement"}) add_unless_null(own_platform, key, member(where, key));
  const Node& own = where.node();
  Node::Object scenario;
  scenario.push_back({"name", {std::string(job_key), own.line, own.source}});
  scenario.push_back({"platform", {std::move(own_platform), own.line, own.source}});
  for (const char* key : {"workload", "strategy", "collectives", "effects", "measure"})
    add_unless_null(scenario, key, member(where, key));
  return {std::move(scenario), own.line, own.source};
}

Scenario read_job(const Value& where, const Value& platform, const Catalogue& catalogue) {
  Section section(where);
  for (const char* key : {"kind", "workload", "strategy", "collectives", "effects", "measure", "ranks", "placement"}) {
    (void)section.maybe(key);
  }
  section.finish();
  const Node root = scenario_of(where, platform);
  Scenario scenario = read_scenario(Value(root, where.pointer()), catalogue);
  if (scenario.strategy.pipeline > 1) {
    Section(Section(where).child("strategy"))
        .child("pipeline")
        .fail("1 of a job beside another: its stages are not simulated there");
  }
  return scenario;
}

void check_apart(const std::vector<Placement>& jobs, const Value& where) {
  std::set<int> taken;
  for (const Placement& placement : jobs) {
    for (const int device : placement.device_of_rank) {
      if (taken.insert(device).second) continue;
      where.fail("devices that no other job has", fmt::format("device {} twice", device),
                 "; a \"placement\" with a \"first_node\" puts a job elsewhere");
    }
  }
}

}  // namespace

void add_constant_traffic(const Value& traffic, Topology& topology) {
  for (const Value& element : traffic.elements()) {
    if (kind_of(element) != constant) continue;
    Section section(element);
    (void)section.child("kind");
    topology.condition.background.emplace_back(section.required<std::string>("links"),
                                               section.above_zero<BytesPerSecond>("rate"));
    section.finish();
  }
}

void read_traffic(const Value& traffic, const Value& platform, const Catalogue& catalogue, const Topology& topology,
                  Scenario& scenario) {
  std::vector<Scenario> jobs;
  std::vector<Placement> placements{scenario.platform.placement};
  int nodes = scenario.platform.platform.nodes;
  for (const Value& element : traffic.elements()) {
    if (kind_of(element) == constant) continue;
    if (kind_of(element) != job_key) continue;
    jobs.push_back(read_job(element, platform, catalogue));
    placements.push_back(jobs.back().platform.placement);
    check_apart(placements, element);
    nodes = std::max(nodes, placements.back().nodes_needed(topology.devices_per_node));
  }
  if (nodes > scenario.platform.platform.nodes)
    scenario.platform.platform = build(topology, scenario.platform.scale, nodes, platform);
  for (Scenario& other : jobs) {
    other.platform.platform = scenario.platform.platform;
    scenario.traffic.jobs.push_back(std::make_shared<const Scenario>(std::move(other)));
  }
  for (const Value& element : traffic.elements()) {
    if (kind_of(element) == on_off) {
      scenario.traffic.on_off.push_back(read_on_off(element, scenario.platform.platform));
    }
  }
  check_rates(scenario.traffic, platform_of(scenario), traffic);
}

}}  // namespace farandole::scenario
