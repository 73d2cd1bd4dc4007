#include "collective/operation.hpp"

#include <algorithm>
#include <array>

#include "config/named.hpp"
#include "units/mapped.hpp"

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
  return mapped(operations, [](const NamedOperation& row) { return std::string(row.name); });
}

const Operation* find_operation(const std::string& name) {
  const auto* row = std::ranges::find(operations, name, &NamedOperation::name);
  return row == operations.end() ? nullptr : &row->operation;
}

std::string name(Operation operation) {
  const auto* row = std::ranges::find(operations, operation, &NamedOperation::operation);
  return row == operations.end() ? "" : row->name;
}

Operation read_operation(const Value& where) {
  return read_named(where, "an operation", operations, &NamedOperation::name).operation;
}

}}  // namespace farandole::collective
