// The program's version, as CMake's project() states it. Every result carries it; the command line prints it.
#pragma once

#include <string_view>

namespace farandole { inline namespace report {

/// "0.1.0".
std::string_view version();

}}  // namespace farandole::report
