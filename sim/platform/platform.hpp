// A machine as a value: devices in nodes, links with a capacity and a latency, and the route between any two devices.
// What a file in topologies/ describes; read by training and simulate, which never see the file.
//
// Every link has one direction; a cable is two links. All nodes are alike inside (platform/node_template.hpp) and
// joined by a network (platform/network.hpp): a route between nodes is the way out of one through its NIC, the
// network's way from NIC to NIC, and the way in. Device d is device d % devices_per_node of node d / devices_per_node.
// Node n owns the links from n * node.links.size() on; those of the network follow behind the last node's. Routes are
// static, no path of one uses a link twice, and the route of a device to itself is empty. Building is O(links); a route
// is O(its links).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/library_times.hpp"
#include "platform/link.hpp"
#include "platform/network.hpp"
#include "platform/node_template.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace platform {

/// The largest platform anyone may ask for, so that a slip of the hand is refused before it fills the memory.
inline constexpr int most_devices = 1 << 22;

struct Route {
  std::vector<int> links;  // indices into Platform::links, in order from source to destination, path after path
  Seconds latency;         // the sum of the links' latencies, the mean of all paths, and the transport's
  // What is sent is split evenly over so many paths; a link stands in `links` once for every path that crosses it. What
  // acknowledgements take of the way back counts as one path in many.
  int paths = 1;
};

/// Two kinds of ways, where packets choose between them. There are no paths of the other where there is no choice.
struct RouteChoice {
  Route minimal;
  Route other{{}, {}, 0};
  /// With so many `choice_parts` over the minimal ways.
  [[nodiscard]] Route split(int minimal_parts) const;
};

/// What becomes of a message by its size. A small one is eager: it starts when its sender is ready, and is copied on
/// its way. From `rendezvous_from` on it waits until its receiver has posted the receive, too, and for a handshake
/// then.
struct MessageCost {
  Bytes rendezvous_from = 64_KiB;                          // as Open MPI has it over TCP, and SMPI
  Seconds rendezvous;                                      // from that size on
  BytesPerSecond eager_rate = BytesPerSecond::infinity();  // at which smaller ones are copied

  /// Never less for a longer message.
  [[nodiscard]] Seconds of(Bytes size) const { return is_eager(size) ? size / eager_rate : rendezvous; }
  [[nodiscard]] bool is_eager(Bytes size) const { return size < rendezvous_from; }
  /// Of that, what the processor at either end is kept for: it copies what is eager.
  [[nodiscard]] Seconds copying(Bytes size) const { return is_eager(size) ? size / eager_rate / 2 : Seconds(0); }
};

/// For how long a message keeps the processor of a rank that sends or receives it from its other messages (LogP's o). A
/// part of a message's latency, not an addition to it: whoever has one message at a time does not notice, unless both
/// together take longer than that. An eager message is copied besides, half of the time at either end.
struct Occupancy {
  Seconds send{};
  Seconds receive{};  // posting it beforehand included
};

/// Of long messages between nodes, where a message announces each and another one answers: both queue behind what the
/// same ranks send. An answer waits until all that its rank has begun to send to the same peer has left, and of what it
/// has begun to send to others so much as `ahead` of each. Ranks that would enter a round of such messages at the same
/// moment do so apart, by up to `skew`: who is first decides whose data the other's answer waits for.
struct Handshakes {
  Bytes ahead;
  Seconds skew;
};
/// As captured in the laboratory (topologies/lab-star.json); of what the kernel takes, rate and MTU change little.
inline constexpr Handshakes open_mpi_over_tcp{Bytes(145000), Seconds(100e-6)};

/// What the communication software adds to the wires, the same for every message.
struct Transport {
  std::string name;
  Seconds intra_node_latency;  // per message between devices of one node
  Seconds inter_node_latency;  // per message between nodes
  Seconds launch;              // per collective, before its first message
  Seconds control_latency;     // of a small message between hosts, which negotiation uses
  bool eager_sends = false;    // a send counts as done when it is posted, as MPI's eager protocol has it
  // Of eager sends: what a connection sends ahead of those that the same rank posts behind it.
  Bytes send_window;
  Bytes burst;  // likewise: what a link lets through at once after it was idle, as token buckets that limit rates do
  std::optional<Handshakes> handshakes;  // none: they overtake everything, and nobody is early
  // At which a receiver adds what it has received to its own, once it is there; infinite: at no cost.
  BytesPerSecond reduce_rate = BytesPerSecond::infinity();
  int channels = 0;     // blocks of threads by which a device takes part in a collective, each on a multiprocessor
  std::string library;  // that picks algorithms where a collective asks for "library"; may be empty
  bool sharp = false;   // switches between nodes add up (InfiniBand's SHARP), and NCCL may have them do it (CollNet)
  std::vector<LibraryTimes> library_times;  // measured, in place of what such a library's own cost model says
  MessageCost message;
  Occupancy occupancy{};  // of MPI's messages, in a node and between nodes; of NCCL's between nodes
};

struct Platform {
  std::string name;
  std::string device;        // a name in topologies/devices/
  std::string measurements;  // which of the device's measured throughputs belong to this machine; may be empty
  int nodes = 0;
  int devices_per_node = 1;
  std::vector<Link> links;
  NodeTemplate node;
  Network network;
  Transport transport;
  // What MPI does, where the transport is another library's (platform/mpi_transport.hpp); empty: the same.
  std::optional<Transport> mpi{};
  BytesPerSecond flow_rate = BytesPerSecond::infinity();  // of one connection between nodes, whatever the wires do
  double ack_overhead = 0;   // between nodes, bytes of acknowledgements in the opposite direction per byte sent
  double device_spread = 0;  // relative standard deviation of speed among devices of this kind
  double step_jitter = 0;    // relative standard deviation of one device's time from step to step

  [[nodiscard]] int devices() const { return nodes * devices_per_node; }
  [[nodiscard]] int node_of(int device_index) const { return device_index / devices_per_node; }
  /// The link behind an offset of the node template.
  [[nodiscard]] int link_of(int node_index, int offset) const {
    return node_index * static_cast<int>(node.links.size()) + offset;
  }
  [[nodiscard]] int first_network_link() const { return link_of(nodes, 0); }

  /// Both must be below devices(). Where packets choose their ways, as they do by `network.minimal_parts`.
  [[nodiscard]] Route route(int from_device, int to_device) const;
  [[nodiscard]] RouteChoice choices(int from_device, int to_device) const;
};

/// The mean of all paths of a route through links of the platform. Of a link in a bundle that of the bundle counts.
Seconds mean_latency(const Platform& platform, const Route& route);

/// Bundles have again what their members have together: after links have changed.
void add_up_bundles(Platform& platform);

}}  // namespace farandole::platform
