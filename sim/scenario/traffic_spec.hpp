// Traffic of others on a scenario's platform: "platform/traffic", read and checked.
//
// A list of
//   {"kind": "constant", "links": PATTERN, "rate": RATE}        always there: as "background" of a condition
//   {"kind": "on_off", "links": PATTERN, "rate": RATE, "on": TIME, "off": TIME}
//                                                               times constant, or drawn from a distribution
//   {"kind": "job", "workload": ..., "ranks": ..., "placement": ..., "strategy": ..., "collectives": ..., "effects":
//   ...}
//                                                               as in a scenario, on the same platform, on free devices
// Sources take what they want and give way to nobody; jobs share. What that comes to is in engine/company.hpp.
#pragma once

#include <memory>
#include <vector>

#include "platform/topology.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/read_distribution.hpp"

namespace farandole {

struct Scenario;

struct OnOffSpec {
  std::vector<int> links;
  BytesPerSecond rate;
  TimeDistribution on;
  TimeDistribution off;
};

struct TrafficSpec {
  std::vector<OnOffSpec> on_off;
  std::vector<std::shared_ptr<const Scenario>> jobs;  // their platform is ours
};

/// The constant sources of a "platform", into the topology's condition, before anything is built.
void add_constant_traffic(const Value& traffic, Topology& topology);

/// The others, into the scenario that has been read, whose platform grows to hold all jobs where it may. `platform`:
/// its section of the document.
void read_traffic(const Value& traffic, const Value& platform, const Catalogue& catalogue, const Topology& topology,
                  Scenario& scenario);

}  // namespace farandole
