// Decisions by tables: rows that say of which ranks and sizes they hold, and what is picked there.
//
// Called by the readers of MPI libraries and of NCCL's tuners, and by those who decide. Of an operation's rows the
// first that fits counts. Sizes are as the library counts them.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "config/section.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace simulate {

/// What is asked.
struct DecisionCase {
  int ranks;
  Bytes size;         // as the library counts it
  bool is_too_short;  // its elements do not reach for one each of the largest power of two of the ranks
  int nodes = 1;
  int ranks_per_node = 1;
};

struct DecisionRule {
  int ranks_from = 0;
  int ranks_below = std::numeric_limits<int>::max();
  int nodes_from = 0;
  int nodes_up_to = std::numeric_limits<int>::max();
  int ranks_per_node_from = 0;
  std::optional<bool> power_of_two{};  // the number of ranks
  bool too_short = false;
  Bytes below = Bytes::infinity();
  Bytes up_to = Bytes::infinity();
  std::string algorithm;
  std::string protocol{};  // where the library has some

  [[nodiscard]] bool fits(const DecisionCase& asked) const;
};

using DecisionRules = std::map<Operation, std::vector<DecisionRule>>;

/// A block that has the rows of each operation, by its name. `check` refuses a row whose names are none.
DecisionRules read_decision_rules(const Value& value,
                                  const std::function<void(Section& row, Operation operation)>& check);

/// nullptr where none fits.
const DecisionRule* first_that_fits(const DecisionRules& rules, Operation operation, const DecisionCase& asked);

}}  // namespace farandole::simulate
