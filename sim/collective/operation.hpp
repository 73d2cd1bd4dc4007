// The collective operations, by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/document.hpp"

namespace farandole { inline namespace collective {

enum class Operation : std::uint8_t {
  allreduce,
  reduce_scatter,
  allgather,
  broadcast,
  alltoall,
  reduce,
  gather,
  scatter,
  barrier,
  parameter_server
};

std::vector<std::string> operation_names();
/// nullptr where there is none of that name.
const Operation* find_operation(const std::string& name);
Operation read_operation(const Value& where);
std::string name(Operation operation);

}}  // namespace farandole::collective
