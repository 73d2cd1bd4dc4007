// The catalogue of collective algorithms: one row per operation and name.
//
// An algorithm is one function from a Shape to a Schedule, in a file of its own under algorithms/, and one row here.
// `show algorithms` lists the rows, scenarios and the command line pick from them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collective/schedule.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace collective {

/// What an algorithm is built for. A number of ranks alone is a shape.
struct Shape {
  Shape(int size) : ranks(size) {}
  Shape(int size, int root_rank) : ranks(size), root(root_rank) {}

  int ranks;
  int root = 0;
  int ranks_per_node = 1;       // ranks 0 .. k-1 sit on the first node, and so on; the last node may have fewer
  int segments = 0;             // in pipelines; 0: as the algorithm sees fit
  std::vector<double> weights;  // sizes of the ranks' contributions to each other; empty: all alike
  int servers = 0;              // of a parameter server; 0: as the algorithm sees fit
  std::vector<std::vector<double>> shards{};  // sizes of the tensors of each server; empty: all data split evenly
  bool message_per_tensor = false;            // of shards that are given
};

struct Algorithm {
  Operation operation;
  std::string name;
  std::string summary;
  std::function<Schedule(const Shape& shape)> build;
  Bytes key{};  // of a parameter server that cuts shards into keys of a fixed size: that size; else none
};

std::span<const Algorithm> algorithms();

/// The row, or nullptr.
const Algorithm* find_algorithm(Operation operation, const std::string& name);

/// The names of the algorithms of an operation, for messages.
std::vector<std::string> algorithm_names(Operation operation);

}}  // namespace farandole::collective
