// A machine as a graph value: devices in nodes, links with a capacity and a latency, and the route between any two
// devices. What a file in topologies/ describes; read by training and simulate, which never see the file.
//
// Every link has one direction; a cable is two links. Routes follow a tree: each device climbs from parent to parent
// (PCIe switch, CPU socket, NIC, network switch) until the paths of both ends meet. Where a node has a fabric of its
// own for device-to-device traffic (NVLink), pairs inside the node use that instead. Routes are static, never use a
// link twice, and the route of a device to itself is empty. Building is O(devices); a route is O(depth).
#pragma once

#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole {

/// The largest platform anyone may ask for, so that a slip of the hand is refused before it fills the memory.
inline constexpr int most_devices = 1 << 22;

struct Link {
  std::string name;         // "node3/nic0/up"
  BytesPerSecond capacity;  // what payload gets: the wire in series with the host's cost per byte
  Seconds latency;
  BytesPerSecond wire;  // the nominal rate, for display
};

struct Route {
  std::vector<int> links;  // indices into Platform::links, in order from source to destination
  Seconds latency;         // the sum of the links' latencies, and the transport's
  // What is sent is split evenly over so many paths; a link stands in `links` once for every path that crosses it.
  int paths = 1;
};

/// What the communication software adds to the wires, the same for every message.
struct Transport {
  std::string name;
  Seconds intra_node_latency;  // per message between devices of one node
  Seconds inter_node_latency;  // per message between nodes
  Seconds launch;              // per collective, before its first message
  Seconds control_latency;     // of a small message between hosts, which negotiation uses
};

/// A vertex of the routing tree: a device, a switch inside a node, a CPU socket (socket 0 owns the NIC) or a switch of
/// the network. A parent stands before its children in Platform::vertices.
struct Vertex {
  int parent = -1;  // -1 at the root
  int up = -1;      // link towards the parent, -1 where the step costs nothing
  int down = -1;    // link from the parent
};

struct DeviceSlot {
  int node = 0;
  int local = 0;       // index within the node
  int vertex = 0;      // in Platform::vertices; a device with no bus of its own is its node's vertex
  int fabric_up = -1;  // links of the node's own fabric, -1 without one
  int fabric_down = -1;
};

struct Platform {
  std::string name;
  std::string device;        // a name in topologies/devices/
  std::string measurements;  // which of the device's measured throughputs belong to this machine; may be empty
  int nodes = 0;
  int devices_per_node = 1;
  std::vector<Link> links;
  std::vector<Vertex> vertices;
  std::vector<DeviceSlot> devices;  // node by node
  Transport transport;
  double device_spread = 0;  // relative standard deviation of speed among devices of this kind
  double step_jitter = 0;    // relative standard deviation of one device's time from step to step

  /// Both indices must be in `devices`.
  [[nodiscard]] Route route(int from_device, int to_device) const;
};

}  // namespace farandole
