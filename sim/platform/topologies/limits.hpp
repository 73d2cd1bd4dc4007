// How large a machine may be asked for: looked at before anything of it is laid out.
//
// Called by the readers and builders of topologies/. A switch and a cable with its two links take about 100 and 250
// bytes, so that the largest network stays well below a gigabyte; platform.hpp has the limit of devices.
#pragma once

#include "config/section.hpp"

namespace farandole { inline namespace platform {

inline constexpr int most_switches = 1 << 20;
inline constexpr int most_cables = 1 << 21;
/// Between the same two ends, or from one switch to all above it.
inline constexpr int most_cables_together = 1 << 16;
/// The ways between all pairs of them are kept.
inline constexpr int most_devices_of_node = 512;
inline constexpr int most_nics_of_node = 64;

/// Fails at `where` where there are more of them than that.
inline void require_size(Count switches, Count cables, const Value& where) {
  require_at_most(switches, most_switches, "switches", where);
  require_at_most(cables, most_cables, "cables", where);
}

}}  // namespace farandole::platform
