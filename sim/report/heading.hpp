// What stands above every result: which run this is and the settings that were in force.
//
// Filled by the command line, printed by every writer of this room: as '#' lines above a table, as the keys "scenario"
// and "settings" in JSON, of a search also "answer" and "optimum"; CSV has no place for it.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "timeline/optimum.hpp"
#include "timeline/result.hpp"

namespace farandole {

struct Heading {
  std::string scenario;
  Settings settings;
  std::string answer{};              // of a search, in a sentence
  std::optional<Optimum> optimum{};  // of a search
};

/// "# farandole VERSION, scenario NAME", then one "#   name: value" for each setting.
void write_comment(std::ostream& out, const Heading& heading);

}  // namespace farandole
