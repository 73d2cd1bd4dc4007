// A machine as a value: devices in nodes, links with a capacity and a latency, and the route between any two devices.
// What a file in topologies/ describes; read by training and simulate, which never see the file.
//
// Every link has one direction; a cable is two links. All nodes are alike inside (platform/platform.hpp) and
// joined by a network (platform/platform.hpp): a route between nodes is the way out of one through its NIC, the
// network's way from NIC to NIC, and the way in. Device d is device d % devices_per_node of node d / devices_per_node.
// Node n owns the links from n * node.links.size() on; those of the network follow behind the last node's. Routes are
// static, no path of one uses a link twice, and the route of a device to itself is empty. Building is O(links); a route
// is O(its links).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "config/document.hpp"
#include "platform/link.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace platform {

// The inside of a node, the same in every node of a platform: its links and the ways between its devices and its NICs.
//
// Made by platform/topologies/kinds.hpp, read by Platform::route. Links are offsets into `links`; node n of a platform
// has its own copy of them from link n * links.size() on, so a platform's memory is O(links), whatever stands in a
// node. A way never uses a link twice. `between` has an empty path from a device to itself.

struct NodeTemplate {
  /// Where the node meets the network: its links onto the wire and from it, -1 where the network's own links do.
  struct Nic {
    int up = -1;
    int down = -1;
  };

  int devices = 1;
  std::vector<Link> links;                       // named within the node: "nic0/up"
  std::vector<Nic> nics;                         // at least one
  int cpu = -1;                                  // what moves all that goes out and comes in; -1: nothing limits it
  std::vector<std::vector<int>> nics_of_device;  // which a device sends and receives through, split evenly
  std::vector<Paths> between;                    // [from * devices + to]
  std::vector<Paths> to_nic;                     // [device * nics + nic], the NIC's `up` last
  std::vector<Paths> from_nic;                   // [nic * devices + device], the NIC's `down` first

  [[nodiscard]] const Paths& way(int from, int to) const { return between[at(from, devices, to)]; }
  [[nodiscard]] const Paths& way_out(int device, int nic) const {
    return to_nic[at(device, static_cast<int>(nics.size()), nic)];
  }
  [[nodiscard]] const Paths& way_in(int nic, int device) const { return from_nic[at(nic, devices, device)]; }

 private:
  static std::size_t at(int row, int columns, int column) { return static_cast<std::size_t>(row * columns + column); }
};

// What joins the nodes: switches, the cables between them, where each NIC is plugged in, and the way from NIC to NIC.
//
// Made by the builders of topologies/; read by Platform::route, which asks `paths`, and by whatever looks at the graph
// itself (port counts, bisection, pictures, files for other simulators). NICs are numbered node by node:
// node * NICs per node + NIC. Routes are static: `paths` depends on nothing but its arguments. No path uses a link
// twice; of a choice, bundles may be crossed more than once. Where there is a choice, whoever knows the load splits
// what is sent between its two kinds of ways (Platform::choices), and `paths` are only an example of them.

struct Platform;

struct Switch {
  std::string name;
  int ports = 0;  // how many it has; 0 where nobody says
  int level = 0;  // 0 where NICs are plugged in; pictures draw higher levels further up
};

/// Between two switches: one link there and one back. A bundle that hardware shares packet by packet is one Cable.
struct Cable {
  int from = 0;
  int to = 0;
  int there = -1;  // link from `from` to `to`
  int back = -1;
  int count = 1;  // physical cables in it
};

/// What packets choose between, each by the load of the moment: ways as short as can be, and others round about. Of
/// either kind every way is as likely as every other, so links that are chosen alike are counted together (Bundle).
struct WayChoice {
  Paths minimal;
  Paths other;  // empty: there is no choice
};

/// Stands for links over which packets spread alike: has what these have together, and the latency of one. Its link
/// comes behind those of all cables; a way that names a link of a cable names its bundle, too.
struct Bundle {
  int link = -1;
  std::vector<int> members;    // links of their own, which packets that do not spread name too
  double hops = 1;             // of a member, that a packet takes where it crosses the bundle once
  bool carries = true;         // what crosses it is on its members; else other bundles say where it is
  bool counts_members = true;  // what goes over one of its members alone crosses it, too
  // Of nodes from the first to before the end: how often a byte that one of them sends, or receives, crosses it at
  // most.
  int first_node = 0;
  int end_node = 0;
  int by_sent = 0;
  int by_received = 0;
};

/// Sixteenths: how finely what is sent is split over the kinds of ways.
inline constexpr int choice_parts = 16;

struct Network {
  std::vector<Switch> switches;
  std::vector<Cable> cables;
  std::vector<int> switch_of_nic;
  /// NIC i of a node meets only NICs i: what leaves through it arrives through it.
  bool rails_apart = false;
  /// The links between the switches of two NICs of different nodes; their own `up` and `down` not among them.
  std::function<Paths(int from_nic, int to_nic)> paths;
  /// Empty where every pair keeps its ways.
  std::function<WayChoice(int from_nic, int to_nic)> choice;
  int minimal_parts = choice_parts;  // of what is sent, where nobody knows the load
  std::vector<Bundle> bundles;       // in the order of their links
  /// Switches and cables are not known, only the ways: `cables` is empty, and what is cut or how far it is nobody can
  /// say.
  bool only_ways = false;
  /// The kind's formula for platform/bisection.hpp; empty where there is none.
  std::function<BytesPerSecond(const Platform&)> bisection;
  /// Whether none of its links can ever be full or takes time, with these capacities of all links: then it is a switch
  /// that does not limit, whatever is sent. Empty: not known.
  std::function<bool(const Platform&, std::span<const BytesPerSecond> capacities)> never_full;
  /// Moving every node on by so many, modulo their number, changes nothing: there is a renumbering of the network's
  /// links after which the paths between moved NICs are those between the NICs before. 0: not known.
  int alike_after = 0;
};

// What a communication library's collectives take on a machine, as measured there: piece by piece of their sizes.
//
// Part of a topology's transport ("library_times", which farandole calibrate writes); used by the libraries of
// simulate/ in place of their own cost model. A piece begins where the library changes algorithm or protocol and takes
//
//   latency + size / rate
//
// where nothing else is on the network. Pieces are in order of size, the first begins at 0 bytes.

struct LibraryPiece {
  Bytes from;
  std::string algorithm;  // as NCCL calls it: "tree", "ring", "collnet_direct", "collnet_chain", "nvls", ...
  std::string protocol;   // "LL", "LL128", "Simple"
  Seconds latency;
  BytesPerSecond rate;
};

/// What the library found on the machine as it was measured, whatever its links have been changed to since.
struct MeasuredLinks {
  int nvlinks = 0;     // of a device; 0: the way inside a node, if there is one, is PCIe
  BytesPerSecond pci;  // 0: nobody else is inside the node
  int nics = 0;        // of a node, at `nic`; 0 on a single node
  BytesPerSecond nic;
};

struct LibraryTimes {
  std::string library;  // "nccl-2.18"
  Operation operation = Operation::allreduce;
  int ranks = 2;
  int nodes = 1;
  int devices_per_process = 1;  // that one process drove
  std::string table{};          // of scenarios/published/collectives, which they were fitted to; empty: none of them
  std::optional<MeasuredLinks> links{};  // empty: those of the run, but for the scale of the network
  std::vector<LibraryPiece> pieces{};

  [[nodiscard]] const LibraryPiece& piece_of(Bytes size) const;
};

std::vector<LibraryTimes> read_library_times(const Value& list);

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
  Seconds launch{};            // per collective, before its first message
  Seconds control_latency{};   // of a small message between hosts, which negotiation uses
  bool eager_sends = false;    // a send counts as done when it is posted, as MPI's eager protocol has it
  // Of eager sends: what a connection sends ahead of those that the same rank posts behind it.
  Bytes send_window{};
  Bytes burst{};  // likewise: what a link lets through at once after it was idle, as token buckets that limit rates do
  std::optional<Handshakes> handshakes{};  // none: they overtake everything, and nobody is early
  // At which a receiver adds what it has received to its own, once it is there; infinite: at no cost.
  BytesPerSecond reduce_rate = BytesPerSecond::infinity();
  int channels = 0;     // blocks of threads by which a device takes part in a collective, each on a multiprocessor
  std::string library;  // that picks algorithms where a collective asks for "library"; may be empty
  bool sharp = false;   // switches between nodes add up (InfiniBand's SHARP), and NCCL may have them do it (CollNet)
  std::vector<LibraryTimes> library_times{};  // measured, in place of what such a library's own cost model says
  MessageCost message;
  MessageCost nic{Bytes::infinity(), {}};  // of what NCCL or RCCL has a NIC send, besides what they count
  Occupancy occupancy{};                   // of MPI's messages, in a node and between nodes; of NCCL's between nodes
};

struct Platform {
  std::string name;
  std::string device;        // a name in topologies/devices/
  std::string measurements;  // which of the device's measured throughputs belong to this machine; may be empty
  int nodes = 0;
  int devices_per_node = 1;
  Links links;
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
  /// Neither limits of single connections nor congestion curves.
  [[nodiscard]] bool has_plain_links() const;

  /// Both must be below devices(). Where packets choose their ways, as they do by `network.minimal_parts`.
  [[nodiscard]] Route route(int from_device, int to_device) const;
  [[nodiscard]] RouteChoice choices(int from_device, int to_device) const;
};

/// The mean of all paths of a route through links of the platform. Of a link in a bundle that of the bundle counts.
Seconds mean_latency(const Platform& platform, const Route& route);

/// Bundles have again what their members have together: after links have changed.
void add_up_bundles(Platform& platform);

}}  // namespace farandole::platform
