// What every link of a platform carries in some time, and how busy that keeps it.
//
// Made for collectives (scenario/collective_loads.hpp) and for iterations of training (scenario/run_loads.hpp). Bytes
// are payload's, as the links' capacities are.
#pragma once

#include <vector>

#include "platform/platform.hpp"
#include "timeline/result.hpp"

namespace farandole {

struct NetworkLoads {
  Platform platform;
  std::vector<Bytes> bytes;         // by link
  std::vector<double> utilisation;  // by link: bytes / (capacity * time)

  /// The busiest `count` links, of equally busy ones those that come first; never an idle one.
  [[nodiscard]] std::vector<LinkUse> busiest(std::size_t count) const;
};

/// `bytes` may have more entries than the platform has links: limits of a library's own, which are no links, follow
/// behind them.
NetworkLoads loads_over(Platform platform, std::vector<Bytes> bytes, Seconds time);

}  // namespace farandole
