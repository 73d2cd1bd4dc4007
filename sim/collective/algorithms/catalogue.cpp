#include <array>

#include "collective/algorithms.hpp"
#include "collective/algorithms/ring.hpp"

namespace farandole {
namespace {

struct NamedOperation {
  Operation operation;
  const char* name;
};

constexpr std::array operations{NamedOperation{Operation::allreduce, "allreduce"}};

}  // namespace

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> rows{
      {Operation::allreduce, "ring", "reduce-scatter, then allgather, both around one ring; bandwidth-optimal",
       ring_allreduce},
  };
  return rows;
}

const Algorithm* find_algorithm(Operation operation, const std::string& name) {
  for (const Algorithm& row : algorithms()) {
    if (row.operation == operation && row.name == name) return &row;
  }
  return nullptr;
}

std::vector<std::string> algorithm_names(Operation operation) {
  std::vector<std::string> result;
  for (const Algorithm& row : algorithms()) {
    if (row.operation == operation) result.push_back(row.name);
  }
  return result;
}

std::vector<std::string> operation_names() {
  std::vector<std::string> result;
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

}  // namespace farandole
