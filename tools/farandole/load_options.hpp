// Options of `farandole collective` and `farandole run` that say where the bytes go: --links and --draw.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command.hpp"
#include "scenario/collective_run.hpp"
#include "scenario/run.hpp"

namespace farandole {

struct LoadOptions {
  std::string links = "0";
  std::string drawing;

  /// `points`: what each has its own links; `drawn`: the one that is drawn.
  void add_to(CLI::App& command, const std::string& points, const std::string& drawn);
  /// How many links; refuses what is no number.
  [[nodiscard]] int count() const;
  /// Lists the busiest links of every point and draws the topology by the load of the last one, where that is asked
  /// for. `points`: those of the request; `ranks` is blamed where they do not fit.
  void show(const CollectiveRequest& request, const Topology& topology, const Value& ranks,
            std::vector<CollectivePoint>& points) const;
  /// How many links of a run's point are to be counted: all of the last one where it is drawn.
  void ask(RunPlan& plan) const;
  /// Draws the last point, and leaves it as many links as were asked for.
  void draw(const RunPlan& plan, const Catalogue& catalogue, TrainingPoint& last) const;
  /// The same drawing for a page, as SVG; empty where there is nothing to draw it with, or no network. The last point
  /// gets its busiest links if it has none.
  std::string picture(const CollectiveRequest& request, const Topology& topology, const Value& ranks,
                      std::vector<CollectivePoint>& points) const;
};

/// By link of the platform: how busy a point keeps it, whose links are all that it loads.
std::vector<double> utilisation_of(const Platform& platform, const TrainingPoint& point);

}  // namespace farandole
