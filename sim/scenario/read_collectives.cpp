#include <array>
#include <utility>

#include <fmt/format.h>

#include "collective/files/read_schedule.hpp"
#include "config/section.hpp"
#include "scenario/read_parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// What strategies ask for, and by which algorithm where neither they nor the scenario nor the machine says otherwise.
constexpr std::array default_algorithms{
    std::pair{Operation::allreduce, "ring"},      std::pair{Operation::allgather, "ring"},
    std::pair{Operation::reduce_scatter, "ring"}, std::pair{Operation::broadcast, "binomial"},
    std::pair{Operation::alltoall, "pairwise"},
};

Algorithm read_algorithm(const Value& where, Operation operation, const Catalogue& catalogue) {
  const auto text = read<std::string>(where);
  if (is_algorithm_file(text)) {
    Algorithm own = catalogue.algorithm(text);
    if (own.operation != operation) where.fail(fmt::format("a file with an {}", name(operation)));
    return own;
  }
  const auto found = find_algorithm_or_library(operation, text);
  if (!found) {
    where.fail(fmt::format("an {} algorithm or a library", name(operation)), quoted(text),
               hint_for_algorithm(operation, text));
  }
  return *found;
}

/// `wanted`: what the strategy's settings ask for; empty: nothing.
void choose_algorithm(const Value& chosen, Operation operation, const std::string& wanted, const Catalogue& catalogue,
                      Scenario& scenario) {
  const Algorithm algorithm = read_algorithm(chosen, operation, catalogue);
  if (!wanted.empty() && algorithm.name != wanted) {
    chosen.fail(fmt::format("\"{}\", as the strategy's settings ask for, or nothing", wanted));
  }
  const PlatformSpec& spec = scenario.platform;
  if (is_library(algorithm)) {
    scenario.libraries[operation] = use_library(algorithm, spec.platform.transport, spec.device, chosen);
  }
  scenario.collectives[operation] = algorithm;
}

void take_default(Operation operation, DefaultCollective found, Scenario& scenario) {
  scenario.libraries.erase(operation);
  if (found.library.library != nullptr) scenario.libraries[operation] = found.library;
  if (!found.why_plain.empty()) scenario.plain_by_default[operation] = std::move(found.why_plain);
  scenario.collectives[operation] = std::move(found.algorithm);
}

/// The libraries that may be asked: those that were chosen, those that were measured, and the hosts' MPI.
void account_for_libraries(const Scenario& scenario, const Catalogue& catalogue) {
  const Platform& platform = scenario.platform.platform;
  for (const auto& [operation, use] : scenario.libraries) catalogue.account_for(use.library);
  if (scenario.strategy.reduces_through_hosts) catalogue.account_for(&mpi_of_hosts(platform));
  if (scenario.libraries.empty()) return;
  for (const LibraryTimes& times : platform.transport.library_times) catalogue.account_for(find_library(times.library));
}

}  // namespace

void read_collectives(const std::optional<Value>& where, const Catalogue& catalogue, Scenario& scenario) {
  std::optional<Section> section;
  if (where) section.emplace(*where);
  const PlatformSpec& spec = scenario.platform;
  for (const auto& [operation, plain] : default_algorithms) {
    if (operation == Operation::alltoall && scenario.strategy.expert_parallel == 1) continue;  // nobody asks for it
    const auto found = scenario.strategy.algorithms.find(operation);
    const std::string wanted = found == scenario.strategy.algorithms.end() ? "" : found->second;
    if (const auto chosen = section ? section->maybe(name(operation)) : std::nullopt) {
      choose_algorithm(*chosen, operation, wanted, catalogue, scenario);
    } else if (!wanted.empty()) {
      scenario.collectives[operation] = *find_algorithm(operation, wanted);
    } else {
      take_default(operation,
                   default_collective(*find_algorithm(operation, plain), spec.platform.transport, spec.device),
                   scenario);
    }
  }
  if (section) section->finish();
  account_for_libraries(scenario, catalogue);
}

void leave_default_libraries(Scenario& scenario, const std::string& why) {
  for (const auto& [operation, plain] : default_algorithms) {
    const auto library = scenario.libraries.find(operation);
    if (library == scenario.libraries.end() || !library->second.by_default) continue;
    take_default(operation,
                 without_library(*find_algorithm(operation, plain), scenario.platform.platform.transport, why),
                 scenario);
  }
}

}}  // namespace farandole::scenario
