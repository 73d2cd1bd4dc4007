// What a scenario's "effects" section says: everything that makes a run less than ideal, each off unless it is named.
//
// Read by scenario/read_parts.hpp, applied by scenario/apply_effects.hpp. Ranks and nodes beyond the run's size are
// simply not in it, so that one file can be swept over numbers of ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/topology.hpp"
#include "scenario/catalogue.hpp"
#include "scenario/read_distribution.hpp"
#include "training/effects/distribution.hpp"
#include "training/effects/failures.hpp"
#include "training/effects/input_pipeline.hpp"
#include "workload/device.hpp"

namespace farandole { inline namespace scenario {

struct Straggler {
  std::vector<int> ranks;
  double slowdown = 0;  // 0.1: ten percent more time
};

/// Some ranks sit on other devices, or on devices that run at another speed.
struct OtherDevice {
  std::vector<int> ranks;
  std::vector<int> nodes;
  double speed = 1;              // relative to the platform's device
  std::optional<Device> device;  // instead of a speed
};

struct SlowLink {
  std::vector<int> nodes;  // their NICs
  std::string links;       // or every link whose name starts so
  double rate = 1;         // what is left of the rate
  Seconds added_latency;
};

struct EffectsSpec {
  double device_spread = 0;
  Distribution step_jitter;
  std::vector<Straggler> stragglers;
  std::vector<OtherDevice> other_devices;
  std::vector<SlowLink> slow_links;
  std::optional<OsNoise> os_noise;
  double communication_compute_share = 0;
  double board_slowdown = 0;  // of a device whose neighbour on the board computes too
  std::optional<InputSupply> input;
  std::optional<Checkpoint> checkpoint;  // its size is 0 where the file does not say
};

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

}}  // namespace farandole::scenario
