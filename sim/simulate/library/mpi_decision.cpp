#include "simulate/library/mpi_decision.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "collective/algorithms.hpp"
#include "platform/mpi_transport.hpp"
#include "simulate/invariant.hpp"
#include "simulate/library/library_file.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// The elements do not reach for one each of the largest power of two of the ranks.
bool is_too_short_to_halve(int ranks, Bytes size) {
  return size / mpi_element < static_cast<double>(std::bit_floor(static_cast<unsigned>(ranks)));
}

std::string by_rules(const MpiDecisions& decisions, Operation operation, int ranks, Bytes size) {
  const bool is_block = std::ranges::find(decisions.by_block, operation) != decisions.by_block.end();
  const DecisionRule* rule =
      first_that_fits(decisions.rules, operation,
                      {ranks, is_block ? size / ranks : size, is_too_short_to_halve(ranks, size), 1, ranks});
  if (rule == nullptr) throw InvariantError("an MPI was asked to choose for an operation that its file does not list");
  return rule->algorithm;
}

/// A reduce and a broadcast, each as the library does them: its own choice of the broadcast.
std::string in_two(const MpiDecisions& decisions, int ranks, Bytes size) {
  const std::string second = by_rules(decisions, Operation::broadcast, ranks, size);
  return second == "binary" || second == "direct" || second == "knomial" ? "reduce_" + second : "reduce_broadcast";
}

/// What Open MPI's algorithms hand on to others where they cannot work, or how they work there
/// (ompi/mca/coll/base/coll_base_{allreduce,reduce,allgather}.c): a ring with less than an element for each rank,
/// halving with less than one for each that it pairs, doubling of an allgather for other numbers of ranks than powers
/// of two.
std::string handed_on(const MpiDecisions& decisions, Operation operation, const std::string& algorithm, int ranks,
                      Bytes size) {
  const bool is_allreduce = operation == Operation::allreduce;
  const bool is_too_short = is_too_short_to_halve(ranks, size);
  const bool is_uneven = !is_power_of_two(ranks);
  if (algorithm == "ring" && is_allreduce && size / mpi_element < ranks) return "recursive_doubling";
  if (algorithm == "doubling_halving" && is_too_short) return "recursive_doubling";
  if (algorithm == "doubling_halving" && is_uneven) return "doubling_halving_split";
  if (algorithm == "doubling_gather" && is_too_short) return "direct";
  if (algorithm == "reduce_broadcast" && is_allreduce) return in_two(decisions, ranks, size);
  if (algorithm == "recursive_doubling" && operation == Operation::allgather && is_uneven) return "bruck";
  return algorithm;
}

void check_row(Section& row, Operation operation) {
  const Value algorithm = row.child("algorithm");
  if (find_algorithm(operation, read<std::string>(algorithm)) != nullptr) return;
  algorithm.fail_unknown("an algorithm for " + name(operation), algorithm_names(operation));
}

}  // namespace

/// `by_openmpi`: its algorithms are carried out as Open MPI's. Every operation's last row must hold for all cases.
static MpiDecisions read_mpi_decisions(Section& section, const std::vector<Operation>& operations, bool by_openmpi) {
  const Value value = section.child("decisions");
  MpiDecisions decisions{read_decision_rules(value, check_row), {}, by_openmpi};
  for (const Operation operation : operations) {
    const Value rows = Section(value).child(name(operation));
    const auto all = rows.elements();
    const bool is_whole = !all.empty() && all.back().members().size() == 1;
    if (!is_whole) rows.fail("a last row with an \"algorithm\" alone, which holds for all other cases");
  }
  for (const Value& each : section.child("by_block").elements()) decisions.by_block.push_back(read_operation(each));
  return decisions;
}

std::string mpi_choice(const MpiDecisions& decisions, Operation operation, int ranks, Bytes size) {
  const std::string chosen = by_rules(decisions, operation, ranks, size);
  return decisions.hands_on ? handed_on(decisions, operation, chosen, ranks, size) : chosen;
}

static RoutedSchedule route_mpi(const LibraryJob& job, const std::string& library, const std::string& algorithm) {
  Shape shape(static_cast<int>(job.placement.device_of_rank.size()), job.root);
  shape.ranks_per_node = job.placement.ranks_per_node(job.platform.devices_per_node);
  shape.segments = 1;  // neither library asks for segments
  Schedule schedule = find_algorithm(job.operation, algorithm)->build(shape);
  if (!job.platform.mpi) return {std::move(schedule), job.platform, job.placement};
  Platform platform = job.platform;
  platform.transport = mpi_transport(library, job.platform);
  return {std::move(schedule), platform, job.placement};
}

Transport mpi_transport(const std::string& library, const Platform& platform) {
  if (!platform.mpi) return platform.transport;
  Transport transport = *platform.mpi;
  if (library_family(library) != library_family(transport.library)) transport.handshakes.reset();
  return transport;
}

void add_mpi(Section& section, Library& library) {
  const bool by_openmpi = library_family(library.name) == "openmpi";
  auto decisions = std::make_shared<const MpiDecisions>(read_mpi_decisions(section, library.operations, by_openmpi));
  library.mpi = decisions;
  library.planner = [decisions, name = library.name](const LibraryJob& job) {
    const Seconds launch = mpi_transport(name, job.platform).launch;
    return LibraryPlanner{
        {}, [=](Bytes size) {
          const auto ranks = static_cast<int>(job.placement.device_of_rank.size());
          const std::string algorithm = mpi_choice(*decisions, job.operation, ranks, size);
          return LibraryPlan{{algorithm, "", 1}, launch, algorithm, [=] { return route_mpi(job, name, algorithm); }};
        }};
  };
}

}}  // namespace farandole::simulate
