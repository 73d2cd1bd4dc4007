// Where the source tree lies: its models, topologies, scenarios, and the data of tests. In a file of its own, so that
// no other object of the tests depends on the place of a checkout, and a compiler cache serves every checkout of a
// machine.
#pragma once

#include <filesystem>

namespace farandole::test {

std::filesystem::path source_folder();

}  // namespace farandole::test
