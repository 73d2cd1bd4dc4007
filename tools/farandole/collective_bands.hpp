// Where four measurements in five of what a library's collectives take should lie.
#pragma once

#include <optional>

#include "calibration/measured_time.hpp"
#include "calibration/spread.hpp"
#include "platform/topology.hpp"
#include "scenario/catalogue.hpp"

namespace farandole {

/// By what the topology was calibrated to, where it was; else by what published tables were missed by, inside a node or
/// over several, by size, with or without measurements of the machine: topologies/errors/collectives.json, which
/// tools/accuracy writes.
class CollectiveBands {
 public:
  CollectiveBands(const Topology& topology, const Catalogue& catalogue);

  /// measured / predicted; nothing where an algorithm was named, which no table is of.
  [[nodiscard]] std::optional<TimeBand> of(const MeasuredTime& row) const;

 private:
  const Topology& topology_;
  std::optional<Spread> calibrated_;
  std::optional<Document> tables_;
};

}  // namespace farandole
