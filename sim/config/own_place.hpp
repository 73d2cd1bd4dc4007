// Where the running program lies, and with it what was installed beside it: its data and its modules.
//
// Asked by scenario/catalogue.hpp and config/modules.hpp. In the Python package "the program" is the package's own
// library. Links are followed, so a link to the program in another folder finds the same place.
#pragma once

#include <filesystem>

namespace farandole { inline namespace config {

/// The folder of the program, or of the library that this code is part of; empty where the system does not say.
std::filesystem::path own_folder();

}}  // namespace farandole::config
