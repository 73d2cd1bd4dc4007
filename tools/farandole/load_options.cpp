#include "load_options.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "graphviz.hpp"
#include "report/output_file.hpp"
#include "report/pages.hpp"
#include "scenario/apply_effects.hpp"
#include "scenario/network_loads.hpp"

namespace farandole {
namespace {

void draw_loads(const std::string& file, const Platform& platform, std::span<const double> utilisation) {
  write_file(file, [&](std::ostream& out) {
    draw_with_graphviz(out, [&](std::ostream& text) { write_topology_picture(text, platform, utilisation); });
  });
}

}  // namespace

void LoadOptions::add_to(CLI::App& command, const std::string& points, const std::string& drawn) {
  command.add_option("--links", links, "list so many of the busiest links of every " + points)
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--draw", drawing, "draw the topology into this SVG file, coloured by the load of " + drawn)
      ->type_name("FILE");
}

int LoadOptions::count() const {
  return whole_number("--links", links, 0);
}

std::string LoadOptions::picture(const CollectiveRequest& request, const Topology& topology, const Value& ranks,
                                 std::vector<CollectivePoint>& points) const {
  constexpr std::size_t links_on_a_page = 10;
  if (points.empty() || request.algorithm.operation == Operation::barrier) return {};
  const NetworkLoads loads = loads_of(points.back(), request, topology, ranks);
  if (loads.platform.nodes < 2) return {};
  if (points.back().links.empty()) points.back().links = loads.busiest(links_on_a_page);
  return drawn_or_empty([&](std::ostream& text) { write_topology_picture(text, loads.platform, loads.utilisation); });
}

void LoadOptions::show(const CollectiveRequest& request, const Topology& topology, const Value& ranks,
                       std::vector<CollectivePoint>& points) const {
  const auto wanted = static_cast<std::size_t>(count());
  for (CollectivePoint& point : points) {
    if (wanted > 0) point.links = loads_of(point, request, topology, ranks).busiest(wanted);
  }
  if (drawing.empty()) return;
  const NetworkLoads loads = loads_of(points.back(), request, topology, ranks);
  draw_loads(drawing, loads.platform, loads.utilisation);
}

void LoadOptions::ask(RunPlan& plan) const {
  if (!drawing.empty()) plan.points.back().busiest_links = std::numeric_limits<int>::max();
}

void LoadOptions::draw(const RunPlan& plan, const Catalogue& catalogue, TrainingPoint& last) const {
  if (drawing.empty()) return;
  const Platform platform = platform_of(read_point(plan.points.back(), catalogue).scenario);
  draw_loads(drawing, platform, utilisation_of(platform, last));
  last.links.resize(std::min(last.links.size(), static_cast<std::size_t>(count())));
}

std::vector<double> utilisation_of(const Platform& platform, const TrainingPoint& point) {
  std::map<std::string, double> busy;
  for (const LinkUse& link : point.links) busy[link.name] = link.utilisation;
  std::vector<double> utilisation;
  for (const Link& link : platform.links) {
    const auto found = busy.find(link.name);
    utilisation.push_back(found == busy.end() ? 0 : found->second);
  }
  return utilisation;
}

}  // namespace farandole
