// Where the data lies: models/, topologies/ and what else files name.
//
// Asked by the catalogue (scenario/catalogue.hpp) and by whoever reads libraries' tables. The environment variable
// FARANDOLE_DATA, else what was installed with the program, found from where the program lies (own_folder),
// else the source tree that it was built from.
#pragma once

#include <filesystem>

namespace farandole { inline namespace config {

std::filesystem::path data_folder();

// Where the running program lies, and with it what was installed beside it: its data and its modules.
//
// Asked by scenario/catalogue.hpp and config/modules.hpp. In the Python package "the program" is the package's own
// library. Links are followed, so a link to the program in another folder finds the same place.

/// The folder of the program, or of the library that this code is part of; empty where the system does not say.
std::filesystem::path own_folder();

}}  // namespace farandole::config
