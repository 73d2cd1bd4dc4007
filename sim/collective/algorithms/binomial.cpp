#include <algorithm>

#include "collective/algorithms/blank.hpp"
#include "collective/algorithms/trees.hpp"

namespace farandole { inline namespace collective {
namespace {

enum class Carries { whole, blocks_of_subtree };

/// Ranks that far apart, the nearer to the root sending to the other.
Phase down(const char* name, const Shape& shape, int distance, Carries carries) {
  Phase phase{name, {}};
  for (int near = 0; near + distance < shape.ranks; near += 2 * distance) {
    const int from = (shape.root + near) % shape.ranks;
    const int to = (shape.root + near + distance) % shape.ranks;
    const int below = std::min(distance, shape.ranks - near - distance);
    const bool is_whole = carries == Carries::whole;
    phase.transfers.push_back({from, to, is_whole ? 0 : to, Action::copy, is_whole ? 1 : below});
  }
  return phase;
}

std::vector<Phase> all_down(const char* name, const Shape& shape, Carries carries) {
  std::vector<Phase> phases;
  for (int distance = 1; distance < shape.ranks; distance *= 2) {
    phases.push_back(down(name, shape, distance, carries));
  }
  std::ranges::reverse(phases);
  return phases;
}

/// The first `distance` ranks send to those that far ahead.
Phase down_to_the_next(const Shape& shape, int distance) {
  Phase phase{"broadcast", {}};
  for (int near = 0; near < distance && near + distance < shape.ranks; ++near) {
    const int from = (shape.root + near) % shape.ranks;
    const int to = (shape.root + near + distance) % shape.ranks;
    phase.transfers.push_back({from, to, 0, Action::copy});
  }
  return phase;
}

std::vector<Phase> nearest_first(const Shape& shape) {
  std::vector<Phase> phases;
  for (int distance = 1; distance < shape.ranks; distance *= 2) phases.push_back(down_to_the_next(shape, distance));
  return phases;
}

std::vector<Phase> backwards(std::vector<Phase> phases, const char* name, Action action) {
  std::ranges::reverse(phases);
  for (Phase& phase : phases) {
    phase.name = name;
    for (Transfer& transfer : phase.transfers) {
      std::swap(transfer.from, transfer.to);
      transfer.action = action;
    }
  }
  return phases;
}

Schedule with_phases(Schedule schedule, std::vector<Phase> phases) {
  schedule.phases = std::move(phases);
  return schedule;
}

}  // namespace

std::vector<Phase> binomial_broadcast_phases(const Shape& shape) {
  return all_down("broadcast", shape, Carries::whole);
}

std::vector<Phase> binomial_reduce_phases(const Shape& shape) {
  return backwards(all_down("reduce", shape, Carries::whole), "reduce", Action::reduce);
}

std::vector<Phase> binomial_scatter_phases(const Shape& shape) {
  return all_down("scatter", shape, Carries::blocks_of_subtree);
}

Schedule binomial_broadcast(const Shape& shape) {
  return with_phases(blank(Operation::broadcast, "binomial", shape, 1), binomial_broadcast_phases(shape));
}

Schedule nearest_first_broadcast(const Shape& shape) {
  return with_phases(blank(Operation::broadcast, "binomial_nearest_first", shape, 1), nearest_first(shape));
}

Schedule binomial_reduce(const Shape& shape) {
  return with_phases(blank(Operation::reduce, "binomial", shape, 1), binomial_reduce_phases(shape));
}

Schedule farthest_first_reduce(const Shape& shape) {
  return with_phases(blank(Operation::reduce, "binomial_farthest_first", shape, 1),
                     backwards(nearest_first(shape), "reduce", Action::reduce));
}

Schedule binomial_scatter(const Shape& shape) {
  return with_phases(blank(Operation::scatter, "binomial", shape, shape.ranks), binomial_scatter_phases(shape));
}

Schedule binomial_gather(const Shape& shape) {
  return with_phases(blank(Operation::gather, "binomial", shape, shape.ranks),
                     backwards(all_down("gather", shape, Carries::blocks_of_subtree), "gather", Action::copy));
}

}}  // namespace farandole::collective
