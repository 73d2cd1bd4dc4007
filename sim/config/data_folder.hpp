// Where the data lies: models/, topologies/ and what else files name.
//
// Asked by the catalogue (scenario/catalogue.hpp) and by whoever reads libraries' tables. The environment variable
// FARANDOLE_DATA, else what was installed with the program, found from where the program lies (config/own_place.hpp),
// else the source tree that it was built from.
#pragma once

#include <filesystem>

namespace farandole { inline namespace config {

std::filesystem::path data_folder();

}}  // namespace farandole::config
