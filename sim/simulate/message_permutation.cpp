#include "simulate/message_permutation.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "simulate/recurrence.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Whether all ranks send and receive at the same cost, which is none for processors, and wait for nobody.
bool ranks_are_alike(const Permutation& permutation, std::size_t lengths) {
  const auto& sender = permutation.senders.front();
  const auto& receiver = permutation.receivers.front();
  for (std::size_t rank = 0; rank < permutation.senders.size(); ++rank) {
    const auto& own = permutation.senders[rank];
    const auto& other = permutation.receivers[rank];
    if (other.from < 0) return false;
    for (std::size_t length = 0; length < lengths; ++length) {
      if (own.waits_for[length] != static_cast<int>(rank) || own.busy[length] > 0 || other.busy[length] > 0)
        return false;
      if (own.sending[length] != sender.sending[length] || other.reducing[length] != receiver.reducing[length])
        return false;
    }
  }
  return true;
}

/// A rank and those before it in its ring, up to the one after it.
std::vector<int> ring_backwards(const Permutation& permutation, int first) {
  std::vector<int> ring;
  int rank = first;
  do {
    ring.push_back(rank);
    rank = permutation.receivers[static_cast<std::size_t>(rank)].from;
  } while (rank != first);
  return ring;
}

/// In the order of `ring_backwards`, by the chunk that a rank sends first; nothing where chunks do not travel around.
std::optional<RingSteps> steps_of(const std::vector<int>& ring, const Permutation& permutation, const Runs& runs) {
  const auto chunk = [&](int rank) {
    return static_cast<std::size_t>(permutation.senders[static_cast<std::size_t>(rank)].chunk);
  };
  const auto sending = [&](int rank) { return permutation.senders.front().sending[runs.length[chunk(rank)]]; };
  const auto n = static_cast<Eigen::Index>(ring.size());
  RingSteps steps{Eigen::ArrayXd(n), Eigen::ArrayXd(n)};
  int after = ring.back();
  for (Eigen::Index i = 0; i < n; ++i) {
    const int rank = ring[static_cast<std::size_t>(i)];
    if (runs.next[chunk(after)] != static_cast<std::int32_t>(chunk(rank))) return std::nullopt;
    const double reducing = permutation.receivers.front().reducing[runs.length[chunk(rank)]];
    steps.stay[i] = sending(rank) + reducing;
    steps.move[i] = std::max(sending(after), reducing);
    after = rank;
  }
  return steps;
}

}  // namespace

bool carry_chunks(RankTimes& moments, const Permutation& permutation, const Runs& runs, int repeats) {
  if (!ranks_are_alike(permutation, runs.lengths.size())) return false;
  RankTimes carried(moments.size());
  std::vector<bool> seen(permutation.senders.size(), false);
  for (int first = 0; first < std::ssize(seen); ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    const std::vector<int> ring = ring_backwards(permutation, first);
    const std::optional<RingSteps> steps = steps_of(ring, permutation, runs);
    if (!steps) return false;
    const RankTimes ends = carry_ring(moments(ring), *steps, repeats);
    const auto n = std::ssize(ring);
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const int rank = ring[static_cast<std::size_t>(i)];
      carried[rank] = ends[(i + repeats) % n];
      seen[static_cast<std::size_t>(rank)] = true;
    }
  }
  moments.swap(carried);
  return true;
}

}}  // namespace farandole::simulate
