// Reads a file of topologies/ and builds the platform it describes.
//
// A topology may leave its node count open ("nodes": "as needed"); then it grows to what a run asks for. `kind` picks
// the network from the catalogue of topology kinds; the inside of a node is the same for all of them. Bad files throw
// InputError (config/error.hpp).
//
// A link of a file has a rate and a latency in each direction. The latency of a NIC and of an NVLink port counts from
// end to end of the network behind it: once per route, half on the way in and half on the way out. The latency of a
// PCIe link or of a socket interconnect counts each time it is crossed.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "config/named.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "platform/condition.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace platform {

/// Lays out the network around the nodes of a platform: adds its links behind theirs and fills in `network`. A platform
/// that the network has no room for fails at `where`.
using NetworkPlan = std::function<void(Platform& platform, const Value& where)>;

/// What the file says of its calibration, which farandole calibrate wrote (calibration/fit.hpp): to what it was fitted,
/// when, and what error was left. Results name it beside their settings.
struct CalibrationRecord {
  std::vector<std::string> sources;  // file names
  std::string date;                  // as the user gave it
  std::string median;                // of the errors left, "1.03 %"; empty where the file does not say
  bool forced = false;               // written in spite of its errors
  std::vector<std::string> fitted;   // pointers into the file, to the values that the measurements settled
};

/// A topology file, read and checked but not yet sized.
struct Topology {
  std::string name;
  std::string summary;
  std::string kind;
  std::filesystem::path file;
  std::optional<int> nodes;  // at most; empty: as many as needed
  int unit = 0;              // of nodes, of which it has as many as are needed; 0: it has all its nodes
  int devices_per_node = 1;

  struct LinkRate {
    BytesPerSecond wire;
    std::optional<BytesPerSecond> host_rate;  // the rate at which the host alone would move the bytes
    Seconds latency;
    std::string protocol{};    // its name; may be empty
    double payload_share = 1;  // of the wire (platform/link.hpp)
    double ack_overhead = 0;   // bytes of acknowledgements in the opposite direction per byte sent
    BytesPerSecond flow_rate = BytesPerSecond::infinity();  // of a NIC: what one core does for one connection
    std::optional<BytesPerSecond> cpu_rate{};  // of a NIC: what all cores do for all connections, in and out together
    /// What payload gets, the wire and the host in series: 1/B = 1/(wire * payload_share) + 1/host_rate.
    [[nodiscard]] BytesPerSecond effective() const;
  };
  /// Where devices and NICs cannot reach each other's memory: what is sent waits in the memory of the NIC's socket.
  struct Staging {
    LinkRate memory;               // of one socket, shared by all that is staged there
    bool between_devices = false;  // devices of one node as well, in the memory of the sender's socket
  };
  struct PcieTree {
    LinkRate link;                         // device to PCIe switch, switch to CPU socket, device to socket
    int devices_per_switch = 1;            // 1: devices hang directly on their socket
    int sockets = 1;                       // devices are dealt to sockets in equal blocks
    std::optional<LinkRate> interconnect;  // from each other socket to socket 0; present when there are any
    std::optional<Staging> staging;
  };
  struct NvLink {
    struct Bundle {
      int from = 0;
      int to = 0;
      int links = 1;
    };
    LinkRate link;             // of a mesh one link's, else what one device can send into, and receive from, a switch
    std::vector<Bundle> mesh;  // the pairs that are joined; the others go over PCIe. Empty: a switch joins all
  };

  std::optional<PcieTree> pcie;
  std::optional<NvLink> nvlink;
  LinkRate nic;  // its rate zero where the network's own links begin at the node
  [[nodiscard]] bool has_nic() const { return nic.wire > BytesPerSecond(0); }
  std::vector<std::string> nics_at{"socket0"};  // the part of the node each NIC is plugged into
  NetworkPlan network;
  Condition condition;
  int nodes_per_group = 0;  // node n is in group n / nodes_per_group; 0: there are none
  Transport transport;
  std::optional<Transport> mpi;  // what MPI does, where that is not the transport (platform/mpi_transport.hpp)
  std::string device;
  std::optional<BytesPerSecond> host_memory;  // the rate of a node's main memory; empty: as of the device's usual host
  std::string measurements;
  double device_spread = 0;
  double step_jitter = 0;
  std::optional<CalibrationRecord> calibration;
};

/// What a placement needs to know of it.
NodeLayout layout_of(const Topology& topology);

/// `where` is the document's root.
Topology read_topology(const Value& where, const std::filesystem::path& file, const TextReader& text = read_text);

/// The platform with `nodes` nodes; throws InputError at `where` when the topology has fewer, when `nodes` is not
/// positive, and when there would be more than `most_devices`.
Platform build(const Topology& topology, int nodes, const Value& where);

/// The platform at its own size, or as large as the placement needs where that is open; fails at `where` when the
/// placement needs more nodes than there are.
Platform build_for(const Topology& topology, const Placement& placement, const Value& where);

struct TopologyKind {
  /// Reads the file's key "network", which says what is particular to the kind; nodes and NICs have been read already.
  /// `text`: reads the files it names.
  NetworkPlan (*read)(Section& file, const Topology& topology, const TextReader& text);
  /// Nodes of a leaf or a group; null where all stand together.
  int (*nodes_per_group)(const Value& network) = nullptr;
};
/// The catalogue of topology kinds.
std::span<const Entry<TopologyKind>> topology_kinds();

}}  // namespace farandole::platform
