// A platform drawn for people, as a text that Graphviz draws: nodes below, switches above, edges by their load.
//
// Called by `farandole show topology --format svg` and by runs that draw where their bytes went. What is too many to be
// seen is drawn together: the nodes of a switch as one box, switches by the first part of their names or by their
// level, with their number; cables between two boxes are one line, which says how many there are and their rate. With
// loads a line has the colour of the busiest link in it, from green to red, and its share of the time in percent.
#pragma once

#include <iosfwd>
#include <span>

#include "platform/platform.hpp"

namespace farandole {

/// `loads`: the share of its capacity that each link of the platform uses, or empty.
void write_topology_picture(std::ostream& out, const Platform& platform, std::span<const double> loads = {});

}  // namespace farandole
