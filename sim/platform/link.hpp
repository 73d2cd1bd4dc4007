// One direction of a cable, and the ways that links make up.
//
// Made by the builders of topologies/, read by everything that looks at a platform. Links are named by their index in
// Platform::links (inside a NodeTemplate: by their offset from the node's first link).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "config/named.hpp"
#include "platform/congestion.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace platform {

struct Link {
  std::string name;         // "node3/nic0/up"
  BytesPerSecond capacity;  // what payload gets: the wire in series with the host's cost per byte
  Seconds latency;
  BytesPerSecond wire;                                  // the nominal rate, for display
  std::shared_ptr<const CongestionCurve> congestion{};  // null: any number of flows has all of the capacity
};

/// Those of a platform. Copies share them until one is edited, by a member that is not const.
class Links {
 public:
  Links() = default;
  Links(std::vector<Link> links) : links_(std::make_shared<std::vector<Link>>(std::move(links))) {}

  [[nodiscard]] operator const std::vector<Link>&() const { return *links_; }
  [[nodiscard]] std::size_t size() const { return links_->size(); }
  [[nodiscard]] bool empty() const { return links_->empty(); }
  [[nodiscard]] auto begin() const { return links_->cbegin(); }
  [[nodiscard]] auto end() const { return links_->cend(); }
  [[nodiscard]] const Link& operator[](std::size_t index) const { return (*links_)[index]; }
  [[nodiscard]] const Link& front() const { return links_->front(); }

  auto begin() { return edited().begin(); }
  auto end() { return edited().end(); }
  Link& operator[](std::size_t index) { return edited()[index]; }
  Link& back() { return edited().back(); }
  void push_back(Link link) { edited().push_back(std::move(link)); }
  void reserve(std::size_t links) { edited().reserve(links); }
  void resize(std::size_t links) { edited().resize(links); }
  void insert(auto before, auto first, auto last) { edited().insert(before, first, last); }

 private:
  std::vector<Link>& edited() {
    if (links_.use_count() > 1) links_ = std::make_shared<std::vector<Link>>(*links_);
    std::atomic_thread_fence(std::memory_order_acquire);  // behind whoever shared them last
    return *links_;
  }

  std::shared_ptr<std::vector<Link>> links_ = std::make_shared<std::vector<Link>>();
};

/// Links in order, from source to destination.
using Path = std::vector<int>;

inline void append_links(Path& path, const Path& more) {
  path.insert(path.end(), more.begin(), more.end());
}

/// Paths side by side, over which what is sent is split evenly. No paths: no way; one empty path: nothing to cross.
using Paths = std::vector<Path>;

/// All of them at once, each of the `ways` with an equal share.
Paths side_by_side(const std::vector<Paths>& ways);

/// Through all three one after the other, in as many paths as give each path of theirs an equal share; the links of the
/// first and of the last raised by so many.
Paths end_to_end(const Paths& out, int first_out, const Paths& across, const Paths& in, int first_in);

/// The same paths with every link's index raised by `first_link`.
Paths shifted(Paths paths, int first_link);

// How much of a wire's rate is left for payload: the packet sizes of protocols.
//
// A link of a topology file names its protocol, and the reader of topologies calls this. A packet takes `mtu` bytes as
// its protocol counts them, of which `inside` are headers, and `around` more on the wire; `coding` of the nominal rate
// carries bytes at all:
//
//   payload rate = nominal rate * coding * (mtu - inside) / (mtu + around)
//
// Retries are not in it. Acknowledgements travel the other way, in packets without payload; where the file says after
// how many packets one is sent, every byte of payload brings `ack_overhead` bytes back. The sizes and where they are
// from are in link.cpp.

struct PacketFormat {
  Bytes mtu;                            // unless the file says otherwise
  Bytes inside;                         // headers that the MTU counts, as IP and TCP do
  Bytes around;                         // what it does not count: framing, checksums, gaps
  double coding;                        // 1 where the nominal rate is that of bytes already
  int packets_per_acknowledgement = 0;  // 0: acknowledgements are not counted
  // Where the CPU moves every byte: what one core can, which one connection has; and all that work for the network.
  BytesPerSecond flow_rate = BytesPerSecond::infinity();
  BytesPerSecond cpu_rate = BytesPerSecond::infinity();

  /// The mtu must be larger than `inside`.
  [[nodiscard]] double efficiency() const { return coding * ((mtu - inside) / (mtu + around)); }
  /// What acknowledgements take of the opposite direction, in bytes of payload that would fit there, per byte of
  /// payload sent.
  [[nodiscard]] double ack_overhead() const {
    return packets_per_acknowledgement > 0 ? (inside + around) / (mtu + around) / packets_per_acknowledgement : 0;
  }
};

std::span<const Entry<PacketFormat>> protocols();

/// Reads {"name": "tcp", "mtu": "9000 B", "framing": "14 B", "packets_per_acknowledgement": 2, "flow_rate": "18
/// Gbit/s", "cpu_rate": "60 Gbit/s"}; `mtu` and `framing` (bytes around each packet, for a rate limiter that counts
/// fewer than the wire carries) replace what the table has.
PacketFormat read_protocol(const Value& where);

}}  // namespace farandole::platform
