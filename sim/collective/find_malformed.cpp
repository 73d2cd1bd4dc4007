#include <map>
#include <utility>

#include <fmt/format.h>

#include "collective/proof.hpp"
#include "collective/specification.hpp"

namespace farandole { inline namespace collective {
namespace {

using Fault = std::optional<std::string>;

Fault find_bad_transfer(const Schedule& schedule, const Phase& phase, const Transfer& transfer) {
  const auto outside = [](Chunk value, Chunk limit) { return value < 0 || value >= limit; };
  if (outside(transfer.from, schedule.ranks) || outside(transfer.to, schedule.ranks)) {
    return fmt::format("phase {}: a transfer from rank {} to rank {}, of {} ranks", phase.name, transfer.from,
                       transfer.to, schedule.ranks);
  }
  if (outside(transfer.chunk, schedule.chunks)) {
    return fmt::format("phase {}: chunk {}, of {} chunks", phase.name, transfer.chunk, schedule.chunks);
  }
  if (transfer.count < 1 || transfer.count > schedule.chunks / schedule.rows) {
    return fmt::format("phase {}: {} chunks from chunk {} of rank {} on, of {} in a row", phase.name, transfer.count,
                       transfer.chunk, transfer.from, schedule.chunks / schedule.rows);
  }
  if (transfer.action == Action::relay && transfer.chunk == first_copy(schedule, transfer.chunk)) {
    return fmt::format("phase {}: rank {} relays chunk {}, which is no copy to pass on", phase.name, transfer.from,
                       transfer.chunk);
  }
  if (transfer.start < 0 || (transfer.start > 0 && phase.window == 0)) {
    return fmt::format("phase {}: rank {} starts in repeat {} of a phase without a window", phase.name, transfer.from,
                       transfer.start);
  }
  return std::nullopt;
}

Fault find_bad_pattern(const Schedule& schedule, const Phase& phase) {
  if (phase.repeats < 1 || phase.fan < 1 || phase.window < 0) {
    return fmt::format("phase {}: {} repeats, {} lanes, a window of {}", phase.name, phase.repeats, phase.fan,
                       phase.window);
  }
  if (phase.window > 0 && phase.peer_step != 0) {
    return fmt::format("phase {}: receivers that move on in a phase with a window", phase.name);
  }
  for (const Transfer& transfer : phase.transfers) {
    if (auto fault = find_bad_transfer(schedule, phase, transfer)) return fault;
  }
  return std::nullopt;
}

/// Sums may meet in a chunk in any order; an overwriting may meet nothing.
Fault find_conflict(const Schedule& schedule, const Phase& phase, int repeat) {
  std::map<std::pair<int, Chunk>, Action> written;
  Fault fault;
  const auto write = [&](int rank, Chunk chunk, Action action) {
    const auto [place, is_first] = written.emplace(std::pair(rank, chunk), action);
    if (is_first || (place->second == Action::reduce && action == Action::reduce)) return;
    fault = fmt::format("phase {}: chunk {} of rank {} is {} in a round", phase.name, chunk, rank,
                        place->second == action ? "overwritten twice" : "overwritten and added to");
  };
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
    if (transfer.from == transfer.to)
      fault = fmt::format("phase {}: rank {} sends to itself", phase.name, transfer.from);
    for_each_chunk(schedule, phase, transfer, [&](Chunk chunk) {
      const bool is_relayed = transfer.action == Action::relay;
      write(transfer.to, chunk, is_relayed ? Action::copy : transfer.action);
      if (is_relayed) write(transfer.to, first_copy(schedule, chunk), Action::reduce);
    });
  });
  return fault;
}

/// Where only chunks move on, and all together, one repeat decides for all.
int repeats_to_look_at(const Phase& phase) {
  return phase.window == 0 && phase.peer_step == 0 ? 1 : phase.repeats;
}

}  // namespace

std::optional<std::string> find_malformed(const Schedule& schedule) {
  if (auto fault = find_misfit(schedule)) return fault;
  for (const Phase& phase : schedule.phases) {
    if (auto fault = find_bad_pattern(schedule, phase)) return fault;
    for (int repeat = 0; repeat < repeats_to_look_at(phase); ++repeat) {
      if (auto fault = find_conflict(schedule, phase, repeat)) return fault;
    }
  }
  return std::nullopt;
}

}}  // namespace farandole::collective
