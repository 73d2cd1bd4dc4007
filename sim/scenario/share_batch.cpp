#include <limits>

#include <fmt/format.h>

#include "config/limits.hpp"
#include "scenario/read_parts.hpp"

namespace farandole { inline namespace scenario {
namespace {

/// Strong scaling: every rank gets an equal part of the global batch, in as many passes as add up.
void share_global_batch(Scenario& scenario, const Value& where) {
  const int batch = scenario.workload.global_batch;
  if (batch == 0) return;
  const std::int64_t parts = (Count(scenario.replicas()) * scenario.strategy.accumulation).number();
  if (batch % parts != 0) {
    where.fail(fmt::format("a global batch that {} passes of {} ranks share evenly", parts, scenario.replicas()),
               fmt::format("{}", batch));
  }
  scenario.workload.batch_per_rank = static_cast<int>(batch / parts);
}

}  // namespace

void share_batch(Scenario& scenario, const Value& workload) {
  share_global_batch(scenario, workload);
  const Count of_rank = Count(scenario.workload.batch_per_rank) * scenario.strategy.accumulation;
  require_at_most(of_rank, std::numeric_limits<int>::max(), "samples of a rank in a step, batch x accumulation",
                  workload);
  require_at_most(of_rank * scenario.replicas(), std::int64_t{1} << 53U, "samples of all ranks in a step", workload);
}

}}  // namespace farandole::scenario
