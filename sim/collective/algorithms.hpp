// The catalogue of collective algorithms: one row per operation and name.
//
// An algorithm is one function from a number of ranks to a Schedule, in a file of its own under algorithms/, and one
// row here. `show algorithms` lists the rows, scenarios and the command line pick from them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "collective/schedule.hpp"

namespace farandole {

struct Algorithm {
  Operation operation;
  std::string name;
  std::string summary;
  Schedule (*build)(int ranks);
};

std::span<const Algorithm> algorithms();

/// The row, or nullptr.
const Algorithm* find_algorithm(Operation operation, const std::string& name);

/// The names of the algorithms of an operation, and of all operations, for messages.
std::vector<std::string> algorithm_names(Operation operation);
std::vector<std::string> operation_names();
const Operation* find_operation(const std::string& name);
std::string name(Operation operation);

}  // namespace farandole
