// An algorithm drawn as a tutorial draws it: ranks as columns, segments as cells, a picture for every round.
//
// Called by `farandole show algorithm --format svg|html`. A cell names the ranks whose contributions are in it and is
// darker the more they are; arrows go from the cell that is sent to the cell that receives it, blue where it is added,
// green where it is taken over; cells that changed have a thick edge. The first picture is the start. Both forms stand
// alone: no file and no network beside them. A click, the arrow keys and, in HTML, buttons and a slider step through.
#pragma once

#include <iosfwd>
#include <string>

#include "collective/walk.hpp"

namespace farandole {

void write_algorithm_svg(std::ostream& out, const Walk& walk, const std::string& title);
void write_algorithm_html(std::ostream& out, const Walk& walk, const std::string& title);

}  // namespace farandole
