// Options of `farandole collective` that say where its bytes go: --links and --draw.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "scenario/collective_run.hpp"

namespace farandole {

struct LoadOptions {
  std::string links = "0";
  std::string drawing;

  void add_to(CLI::App& command);
  /// Refuses what is no number of links.
  void check() const;
  /// Lists the busiest links of every point and draws the topology by the load of the last one, where that is asked
  /// for. `points`: those of the request; `ranks` is blamed where they do not fit.
  void show(const CollectiveRequest& request, const Topology& topology, const Value& ranks,
            std::vector<CollectivePoint>& points) const;
};

}  // namespace farandole
