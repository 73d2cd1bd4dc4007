#include "collective/proof.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "collective/algorithms.hpp"

namespace farandole {
namespace {

using Counts = Eigen::Array<std::int32_t, Eigen::Dynamic, 1>;

/// counts(rank, chunk)[r]: how often rank r's contribution is summed into that chunk.
class SymbolicState {
 public:
  explicit SymbolicState(const Schedule& schedule) : chunks_(static_cast<std::size_t>(schedule.chunks)) {
    for (int rank = 0; rank < schedule.ranks; ++rank) {
      Counts own = Counts::Zero(schedule.ranks);
      own[rank] = 1;
      cells_.insert(cells_.end(), static_cast<std::size_t>(schedule.chunks), own);
    }
  }

  Counts& at(int rank, int chunk) { return cells_[static_cast<std::size_t>(rank) * chunks_ + static_cast<std::size_t>(chunk)]; }

 private:
  std::size_t chunks_;
  std::vector<Counts> cells_;
};

/// Applies one round to any state: `read(rank, chunk)` copies a chunk out, `write(rank, chunk, value, action)` puts it
/// in.
template <class Read, class Write>
void apply_round(const Schedule& schedule, const Phase& phase, int repeat, Read read, Write write) {
  std::vector<std::pair<Transfer, decltype(read(0, 0))>> in_flight;
  in_flight.reserve(phase.transfers.size());
  for (Transfer transfer : phase.transfers) {
    transfer.chunk = chunk_in_repeat(schedule, phase, transfer, repeat);
    in_flight.emplace_back(transfer, read(transfer.from, transfer.chunk));
  }
  for (const auto& [transfer, value] : in_flight) write(transfer.to, transfer.chunk, value, transfer.action);
}

template <class Read, class Write>
void apply_all(const Schedule& schedule, Read read, Write write) {
  for (const Phase& phase : schedule.phases) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) apply_round(schedule, phase, repeat, read, write);
  }
}

std::optional<std::string> find_malformed(const Schedule& schedule, const Phase& phase, const Transfer& transfer) {
  const auto outside = [](int value, int limit) { return value < 0 || value >= limit; };
  if (outside(transfer.from, schedule.ranks) || outside(transfer.to, schedule.ranks)) {
    return fmt::format("phase {}: a transfer from rank {} to rank {}, of {} ranks", phase.name, transfer.from,
                       transfer.to, schedule.ranks);
  }
  if (transfer.from == transfer.to) return fmt::format("phase {}: rank {} sends to itself", phase.name, transfer.from);
  if (outside(transfer.chunk, schedule.chunks)) {
    return fmt::format("phase {}: chunk {}, of {} chunks", phase.name, transfer.chunk, schedule.chunks);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_malformed(const Schedule& schedule) {
  for (const Phase& phase : schedule.phases) {
    // With every repeat all chunks of a phase move on together, so one repeat decides for all.
    std::set<std::pair<int, int>> copied;
    for (const Transfer& transfer : phase.transfers) {
      if (auto malformed = find_malformed(schedule, phase, transfer)) return malformed;
      if (transfer.action == Action::copy && !copied.emplace(transfer.to, transfer.chunk).second) {
        return fmt::format("phase {}: chunk {} of rank {} is overwritten twice in a round", phase.name, transfer.chunk,
                           transfer.to);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> disprove(const Schedule& schedule) {
  if (auto malformed = find_malformed(schedule)) return malformed;
  SymbolicState state(schedule);
  apply_all(
      schedule, [&](int rank, int chunk) { return state.at(rank, chunk); },
      [&](int rank, int chunk, const Counts& value, Action action) {
        if (action == Action::reduce) {
          state.at(rank, chunk) += value;
        } else {
          state.at(rank, chunk) = value;
        }
      });
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
      const Counts& counts = state.at(rank, chunk);
      for (int source = 0; source < schedule.ranks; ++source) {
        if (counts[source] == 1) continue;
        return fmt::format("{} {}: chunk {} of rank {} ends with rank {}'s contribution {} times, not once",
                           schedule.algorithm, name(schedule.operation), chunk, rank, source, counts[source]);
      }
    }
  }
  return std::nullopt;
}

void execute(const Schedule& schedule, std::vector<IntegerVector>& buffers) {
  const Eigen::Index length = buffers.front().size();
  const ChunkSizes sizes(Bytes(static_cast<double>(length)), schedule.chunks);
  std::vector<Eigen::Index> begin(1, 0);
  for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
    begin.push_back(begin.back() + static_cast<Eigen::Index>(sizes[chunk].si()));
  }
  const auto segment = [&](int rank, int chunk) {
    const auto c = static_cast<std::size_t>(chunk);
    return buffers[static_cast<std::size_t>(rank)].segment(begin[c], begin[c + 1] - begin[c]);
  };
  apply_all(
      schedule, [&](int rank, int chunk) { return IntegerVector(segment(rank, chunk)); },
      [&](int rank, int chunk, const IntegerVector& value, Action action) {
        if (action == Action::reduce) {
          segment(rank, chunk) += value;
        } else {
          segment(rank, chunk) = value;
        }
      });
}

}  // namespace farandole
