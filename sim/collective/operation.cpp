#include "collective/operation.hpp"

#include <array>

#include "config/section.hpp"

namespace farandole { inline namespace collective {
namespace {

struct NamedOperation {
  Operation operation;
  const char* name;
};

constexpr std::array operations{
    NamedOperation{Operation::allreduce, "allreduce"}, NamedOperation{Operation::reduce_scatter, "reduce_scatter"},
    NamedOperation{Operation::allgather, "allgather"}, NamedOperation{Operation::broadcast, "broadcast"},
    NamedOperation{Operation::alltoall, "alltoall"},   NamedOperation{Operation::reduce, "reduce"},
    NamedOperation{Operation::gather, "gather"},       NamedOperation{Operation::scatter, "scatter"},
    NamedOperation{Operation::barrier, "barrier"},     NamedOperation{Operation::parameter_server, "parameter_server"},
};

}  // namespace

std::vector<std::string> operation_names() {
  std::vector<std::string> result;
  result.reserve(operations.size());
  for (const NamedOperation& row : operations) result.emplace_back(row.name);
  return result;
}

const Operation* find_operation(const std::string& name) {
  for (const NamedOperation& row : operations) {
    if (row.name == name) return &row.operation;
  }
  return nullptr;
}

std::string name(Operation operation) {
  for (const NamedOperation& row : operations) {
    if (row.operation == operation) return row.name;
  }
  return {};
}

Operation read_operation(const Value& where) {
  const Operation* operation = find_operation(read<std::string>(where));
  if (operation == nullptr) where.fail_unknown("an operation", operation_names());
  return *operation;
}

}}  // namespace farandole::collective
