#include "collective/proof.hpp"

#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "collective/specification.hpp"

namespace farandole { inline namespace collective {
SymbolicState::SymbolicState(const Schedule& schedule) : chunks_(schedule.chunks) {
  cells_.reserve(static_cast<std::size_t>(schedule.ranks * chunks_));
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < chunks_; ++chunk) {
      Counts& own = cells_.emplace_back(Counts::Zero(schedule.ranks));
      if (contributes(schedule, rank, chunk)) own[rank] = 1;
    }
  }
}

void SymbolicState::write(int rank, Chunk chunk, const Counts& value, Action action) {
  Counts& cell = cells_[index(rank, chunk)];
  if (action == Action::reduce) {
    cell += value;
  } else {
    cell = value;
  }
}

void SymbolicState::apply(const Schedule& schedule, const Phase& phase, int repeat) {
  apply_round(
      schedule, phase, repeat, [this](int rank, Chunk chunk) { return at(rank, chunk); },
      [this](int rank, Chunk chunk, const Counts& value, Action action) { write(rank, chunk, value, action); });
}

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

/// What is wrong with the form of a schedule: a rank or chunk out of range, a send to oneself, two transfers of one
/// round that write the same chunk where one overwrites. Nothing when the form is right.
Fault find_malformed(const Schedule& schedule) {
  if (auto fault = find_misfit(schedule)) return fault;
  for (const Phase& phase : schedule.phases) {
    if (auto fault = find_bad_pattern(schedule, phase)) return fault;
    for (int repeat = 0; repeat < repeats_to_look_at(phase); ++repeat) {
      if (auto fault = find_conflict(schedule, phase, repeat)) return fault;
    }
  }
  return std::nullopt;
}

std::string heading(const Schedule& schedule) {
  return fmt::format("{} {}", schedule.algorithm, name(schedule.operation));
}

/// Only what a rank holds can be sent.
Fault find_empty_send(const Schedule& schedule, const Phase& phase, int repeat, const SymbolicState& state) {
  Fault fault;
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t /*index*/) {
    for_each_chunk(schedule, phase, transfer, [&](Chunk chunk) {
      if (fault || (state.at(transfer.from, chunk) != 0).any()) return;
      fault = fmt::format("{}: phase {}, repeat {}: rank {} sends chunk {} to rank {} before it holds anything of it",
                          heading(schedule), phase.name, repeat, transfer.from, chunk, transfer.to);
    });
  });
  return fault;
}

Fault find_broken_promise(const Schedule& schedule, int rank, Chunk chunk, const Counts& counts) {
  for (int source = 0; source < schedule.ranks; ++source) {
    const ExpectedCount want = expected_count(schedule, chunk, source);
    const int count = counts[source];
    if (want == ExpectedCount::once ? count == 1 : want == ExpectedCount::never ? count == 0 : count > 0) continue;
    const char* instead = want == ExpectedCount::once    ? "once"
                          : want == ExpectedCount::never ? "never"
                                                         : "at least once";
    return fmt::format("{}: chunk {} of rank {} ends with rank {}'s contribution {} times, not {}", heading(schedule),
                       chunk, rank, source, count, instead);
  }
  return std::nullopt;
}

/// Random where the rank contributes, and elsewhere what no sum of contributions can hide; but nothing where others'
/// contributions are to be added.
IntegerVector random_buffer(const Schedule& schedule, const ChunkSizes& sizes, int rank, std::mt19937_64& random) {
  constexpr std::int64_t most = 1'000'000'000;
  std::uniform_int_distribution<std::int64_t> any(-most, most);
  const std::int64_t poison = sums(schedule.operation) ? 0 : most * 1'000'000;
  const Chunk chunks = schedule.chunks / schedule.copies;
  IntegerVector buffer(begin_of(sizes, chunks));
  for (Chunk chunk = 0; chunk < chunks; ++chunk) {
    const bool own = contributes(schedule, rank, chunk);
    for (Eigen::Index i = begin_of(sizes, chunk); i < begin_of(sizes, chunk + 1); ++i) {
      buffer[i] = own ? any(random) : poison;
    }
  }
  return buffer;
}

Fault find_wrong_number(const Schedule& schedule, const ChunkSizes& sizes, int rank, Chunk chunk,
                        const std::vector<IntegerVector>& before, const IntegerVector& after) {
  for (Eigen::Index i = begin_of(sizes, chunk); i < begin_of(sizes, chunk + 1); ++i) {
    std::int64_t expected = 0;
    for (int source = 0; source < schedule.ranks; ++source) {
      if (contributes(schedule, source, chunk)) expected += before[static_cast<std::size_t>(source)][i];
    }
    if (after[i] != expected) {
      return fmt::format("{}: element {} of chunk {} of rank {} ends as {}, not {}", heading(schedule), i, chunk, rank,
                         after[i], expected);
    }
  }
  return std::nullopt;
}

/// Calls `find(rank, chunk)` for all that is promised until it finds something.
template <class Find>
Fault first_fault(const Schedule& schedule, Find find) {
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (Chunk chunk = 0; chunk < schedule.chunks; ++chunk) {
      if (!has_postcondition(schedule, rank, chunk)) continue;
      if (auto fault = find(rank, chunk)) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> disprove(const Schedule& schedule) {
  if (auto malformed = find_malformed(schedule)) return malformed;
  SymbolicState state(schedule);
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) {
      if (auto fault = find_empty_send(schedule, phase, repeat, state)) return fault;
      state.apply(schedule, phase, repeat);
    }
  }
  return first_fault(schedule, [&](int rank, Chunk chunk) {
    return find_broken_promise(schedule, rank, chunk, state.at(rank, chunk));
  });
}

void execute(const Schedule& schedule, std::vector<IntegerVector>& buffers) {
  carry_out(schedule, buffers);
}

std::optional<std::string> disprove_numerically(const Schedule& schedule, int size, std::uint64_t seed) {
  // What a barrier carries may come twice: it has no sum to get right.
  if (schedule.operation == Operation::barrier) return std::nullopt;
  const ChunkSizes sizes(Bytes(size), schedule);
  std::mt19937_64 random(seed);
  std::vector<IntegerVector> before;
  before.reserve(static_cast<std::size_t>(schedule.ranks));
  for (int rank = 0; rank < schedule.ranks; ++rank) before.push_back(random_buffer(schedule, sizes, rank, random));
  std::vector<IntegerVector> after = before;
  execute(schedule, after);
  return first_fault(schedule, [&](int rank, Chunk chunk) {
    return find_wrong_number(schedule, sizes, rank, chunk, before, after[static_cast<std::size_t>(rank)]);
  });
}

}}  // namespace farandole::collective
