// The points of `farandole collective` as a page: bandwidth and time over size, the busiest links, the table.
//
// Called by the command line for `--html` and `--markdown`.
#pragma once

#include <string>
#include <vector>

#include "report/heading.hpp"
#include "report/page.hpp"
#include "report/training_page.hpp"
#include "timeline/result.hpp"

namespace farandole {

struct CollectiveStory {
  Heading heading;
  std::string topology;
  std::string command;
  std::vector<CollectivePoint> points;
  Trust trust;               // published tables of this topology; without points where there are none
  std::string topology_svg;  // with the loads of the last point; or empty
};

/// std::logic_error where a point holds a number that is not finite.
Page collective_page(const CollectiveStory& story);

}  // namespace farandole
