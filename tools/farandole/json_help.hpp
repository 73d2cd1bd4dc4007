// farandole --json-help: all commands and options as JSON (sim/config/schemas/help.schema.json), from the parser's own
// tree; man pages, completion and the site's pages are made from it.
#pragma once

#include <string>

#include "command.hpp"

namespace farandole {

std::string json_help(const CLI::App& app);

}  // namespace farandole
