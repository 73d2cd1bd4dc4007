#include "simulate/recurrence.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulate/ring_recurrence.hpp"

namespace farandole {
namespace {

/// Rank i sends to rank i + 1 (modulo n) in transfer i: the ring.
bool is_ring(const Phase& phase, Eigen::Index ranks) {
  if (static_cast<Eigen::Index>(phase.transfers.size()) != ranks) return false;
  if (phase.peer_step != 0 || phase.fan != 1 || phase.window != 0) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    const Transfer& transfer = phase.transfers[static_cast<std::size_t>(rank)];
    if (transfer.from != rank || transfer.to != (rank + 1) % ranks) return false;
  }
  return true;
}

/// Whether costs are the same everywhere and ranks start together, or every start comes once around: all end together.
bool ends_together(const RankTimes& moments, const Phase& phase, const TransferCosts& costs) {
  const auto& [sending, reducing] = costs;
  const bool mixed = phase.repeats >= moments.size() - 1 && (reducing == 0).all();
  return (sending == sending[0]).all() && (reducing == reducing[0]).all() && (mixed || (moments == moments[0]).all());
}

/// Something to reduce that is at its receiver.
struct Arrival {
  int rank;
  double moment;
  double work;
};

/// Every rank takes what has arrived one by one, in the order in which it came.
void reduce(std::vector<Arrival> arrivals, RankTimes& moments) {
  std::ranges::sort(arrivals, {}, [](const Arrival& a) { return std::pair(a.rank, a.moment); });
  int rank = -1;
  double busy = 0;
  for (const Arrival& arrival : arrivals) {
    busy = (arrival.rank == rank ? std::max(busy, arrival.moment) : arrival.moment) + arrival.work;
    rank = arrival.rank;
    moments[rank] = std::max(moments[rank], busy);
  }
}

}  // namespace

void carry_once(RankTimes& moments, const Schedule& schedule, const Phase& phase, int repeat,
                const TransferCosts& costs) {
  RankTimes next = moments;
  std::vector<Arrival> to_reduce;
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t index) {
    const auto i = static_cast<Eigen::Index>(index);
    const double done = moments[transfer.from] + costs.sending[i];
    next[transfer.from] = std::max(next[transfer.from], done);
    if (costs.reducing[i] > 0) {
      to_reduce.push_back({transfer.to, std::max(done, moments[transfer.to]), costs.reducing[i]});
    } else {
      next[transfer.to] = std::max(next[transfer.to], done);
    }
  });
  reduce(std::move(to_reduce), next);
  moments.swap(next);
}

void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, const TransferCosts& costs) {
  if (is_ring(phase, moments.size())) {
    if (ends_together(moments, phase, costs)) {
      moments.setConstant(moments.maxCoeff() + phase.repeats * (costs.sending[0] + costs.reducing[0]));
    } else {
      moments = carry_ring(moments, costs, phase.repeats);
    }
    return;
  }
  for (int repeat = 0; repeat < phase.repeats; ++repeat) carry_once(moments, schedule, phase, repeat, costs);
}

}  // namespace farandole
