#include "load_options.hpp"

#include "graphviz.hpp"
#include "report/output_file.hpp"
#include "report/topology_picture.hpp"
#include "scenario/collective_loads.hpp"

namespace farandole {

void LoadOptions::add_to(CLI::App& command) {
  command.add_option("--links", links, "list so many of the busiest links of every size")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--draw", drawing, "draw the topology into this SVG file, coloured by the load of the largest size")
      ->type_name("FILE");
}

void LoadOptions::check() const {
  (void)whole_number("--links", links, 0);
}

void LoadOptions::show(const CollectiveRequest& request, const Topology& topology, const Value& ranks,
                       std::vector<CollectivePoint>& points) const {
  const auto count = static_cast<std::size_t>(whole_number("--links", links, 0));
  for (CollectivePoint& point : points) {
    if (count > 0) point.links = loads_of(point, request, topology, ranks).busiest(count);
  }
  if (drawing.empty()) return;
  const CollectiveLoads loads = loads_of(points.back(), request, topology, ranks);
  write_file(drawing, [&](std::ostream& out) {
    draw_with_graphviz(out,
                       [&](std::ostream& text) { write_topology_picture(text, loads.platform, loads.utilisation); });
  });
}

}  // namespace farandole
