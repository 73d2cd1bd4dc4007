// What stands above every result: which run this is and the settings that were in force.
//
// Filled by the command line, printed by every writer of this room: as '#' lines above a table, as the keys "scenario"
// and "settings" in JSON; CSV has no place for it.
#pragma once

#include <iosfwd>
#include <string>

#include "timeline/result.hpp"

namespace farandole {

struct Heading {
  std::string scenario;
  Settings settings;
};

/// "# farandole VERSION, scenario NAME", then one "#   name: value" for each setting.
void write_comment(std::ostream& out, const Heading& heading);

}  // namespace farandole
