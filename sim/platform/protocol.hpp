// How much of a wire's rate is left for payload: the packet sizes of protocols.
//
// A link of a topology file names its protocol, and the reader of topologies calls this. A packet takes `mtu` bytes as
// its protocol counts them, of which `inside` are headers, and `around` more on the wire; `coding` of the nominal rate
// carries bytes at all:
//
//   payload rate = nominal rate * coding * (mtu - inside) / (mtu + around)
//
// Acknowledgements and retries are not in it. The sizes and where they are from stand in protocol.cpp.
#pragma once

#include <span>

#include "config/registry.hpp"
#include "units/quantity.hpp"

namespace farandole {

struct PacketFormat {
  Bytes mtu;      // unless the file says otherwise
  Bytes inside;   // headers that the MTU counts, as IP and TCP do
  Bytes around;   // what it does not count: framing, checksums, gaps
  double coding;  // 1 where the nominal rate is that of bytes already

  /// The mtu must be larger than `inside`.
  [[nodiscard]] double efficiency() const { return coding * ((mtu - inside) / (mtu + around)); }
};

std::span<const Entry<PacketFormat>> protocols();

/// Reads {"name": "roce_v2", "mtu": "4096 B", "framing": "14 B"}; `mtu` and `framing` (bytes around each packet, for a
/// rate limiter that counts fewer than the wire carries) replace what the table has.
PacketFormat read_protocol(const Value& where);

}  // namespace farandole
