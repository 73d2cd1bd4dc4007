// The busiest links of collectives, for people: a few lines of comment below a table.
//
// Called by the writers of collective points. Points without links, because nobody asked, write nothing.
#pragma once

#include <iosfwd>
#include <span>

#include "timeline/result.hpp"

namespace farandole {

void write_busiest_links(std::ostream& out, std::span<const CollectivePoint> points);

}  // namespace farandole
