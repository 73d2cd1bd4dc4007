// Walks through the words of a launch line: settings, the launcher, its options, the program.
#pragma once

#include <string>
#include <string_view>

#include "platform/launch/launcher.hpp"

namespace farandole::launch {

/// Lets every option of the line act on `reading` and returns the launcher's name in the catalogue.
std::string read_line(std::string_view text, Reading& reading);

}  // namespace farandole::launch
