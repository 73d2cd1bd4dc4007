// What goes into every page as it is: its style, its scripts, and D3 as the package manager installed it.
//
// CMake reads the files (CMakeLists.txt of this room) and makes the source of these functions.
#pragma once

#include <string_view>

namespace farandole { inline namespace report {

std::string_view page_style();
std::string_view page_script();

/// Of the scripts, SHA-256 in hexadecimal digits: by these a browser knows them.
std::string_view page_script_digest();
std::string_view d3_digest();

/// D3, minified; empty where it was not found.
std::string_view d3_script();

/// "5.16.0", or empty.
std::string_view d3_version();

// Of the page of `farandole explore` (pages.hpp).

std::string_view explore_style();
std::string_view explore_script();
std::string_view explore_script_digest();

/// What its workers run: JavaScript. Empty where the compiled simulator was not there.
std::string_view explore_simulator();

/// The simulator as WebAssembly, packed with gzip, in base64; empty where it was not there.
std::string_view explore_module();

/// Why it was not there: "none was compiled", or from other sources than the program.
std::string_view explore_lack();

}}  // namespace farandole::report
