#include "simulate/recurrence.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulate/ring_recurrence.hpp"

namespace farandole {
namespace {

/// The ranks of one ring in its order, each with the transfer by which it sends to the next.
struct Ring {
  std::vector<int> ranks;
  std::vector<Eigen::Index> transfers;
};

/// The rings that the phase consists of, as one over all ranks or one within every node; empty if it is anything else.
std::vector<Ring> rings_of(const Phase& phase, Eigen::Index ranks) {
  if (phase.peer_step != 0 || phase.fan != 1 || phase.window != 0) return {};
  std::vector<Eigen::Index> sends(static_cast<std::size_t>(ranks), -1);
  std::vector<bool> receives(sends.size(), false);
  for (std::size_t position = 0; position < phase.transfers.size(); ++position) {
    const auto [from, to] = std::pair(phase.transfers[position].from, phase.transfers[position].to);
    if (sends[static_cast<std::size_t>(from)] >= 0 || receives[static_cast<std::size_t>(to)]) return {};
    sends[static_cast<std::size_t>(from)] = static_cast<Eigen::Index>(position);
    receives[static_cast<std::size_t>(to)] = true;
  }
  std::vector<Ring> rings;
  for (const Transfer& first : phase.transfers) {
    if (sends[static_cast<std::size_t>(first.from)] < 0) continue;  // in a ring already
    Ring ring;
    int rank = first.from;
    while (sends[static_cast<std::size_t>(rank)] >= 0) {
      ring.ranks.push_back(rank);
      ring.transfers.push_back(std::exchange(sends[static_cast<std::size_t>(rank)], -1));
      rank = phase.transfers[static_cast<std::size_t>(ring.transfers.back())].to;
    }
    if (rank != first.from) return {};  // a chain
    rings.push_back(std::move(ring));
  }
  return rings;
}

/// Whether costs are the same everywhere and ranks start together, or every start comes once around: all end together.
bool ends_together(const RankTimes& moments, int repeats, const TransferCosts& costs) {
  const auto& [sending, reducing] = costs;
  const bool mixed = repeats >= moments.size() - 1 && (reducing == 0).all();
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
  const std::vector<Ring> rings = phase.repeats > 1 ? rings_of(phase, moments.size()) : std::vector<Ring>();
  if (rings.empty()) {
    for (int repeat = 0; repeat < phase.repeats; ++repeat) carry_once(moments, schedule, phase, repeat, costs);
    return;
  }
  for (const auto& [ranks, transfers] : rings) {
    const TransferCosts own{costs.sending(transfers), costs.reducing(transfers)};
    RankTimes carried = moments(ranks);
    if (ends_together(carried, phase.repeats, own)) {
      carried.setConstant(carried.maxCoeff() + phase.repeats * (own.sending[0] + own.reducing[0]));
    } else {
      carried = carry_ring(carried, own, phase.repeats);
    }
    moments(ranks) = carried;
  }
}

}  // namespace farandole
