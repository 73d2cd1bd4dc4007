#include "simulate/recurrence.hpp"

#include <algorithm>
#include <optional>
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

/// Whether all of a ring's transfers wait for their receivers; nothing where some do and some do not.
std::optional<bool> all_wait(const TransferCosts& costs) {
  if (costs.waits.size() == 0 || !costs.waits.any()) return false;
  return costs.waits.all() ? std::optional(true) : std::nullopt;
}

/// Whether costs are the same everywhere and ranks start together, or every start comes once around: all end together.
bool ends_together(const RankTimes& moments, int repeats, const TransferCosts& costs, bool wait) {
  const auto& sending = costs.sending;
  const auto& reducing = costs.reducing;
  const bool mixed = repeats >= moments.size() - 1 && (wait || (reducing == 0).all());
  return (sending == sending[0]).all() && (reducing == reducing[0]).all() && (mixed || (moments == moments[0]).all());
}

/// Through all repeats; false where that is left to going through them one by one.
bool carry_along(const Ring& ring, RankTimes& moments, int repeats, const TransferCosts& costs) {
  TransferCosts own{costs.sending(ring.transfers), costs.reducing(ring.transfers)};
  if (costs.waits.size() > 0) own.waits = costs.waits(ring.transfers);
  const std::optional<bool> wait = all_wait(own);
  if (!wait) return false;
  RankTimes carried = moments(ring.ranks);
  if (ends_together(carried, repeats, own, *wait)) {
    carried.setConstant(carried.maxCoeff() + repeats * (own.sending[0] + own.reducing[0]));
  } else {
    carried = *wait ? carry_waiting_ring(carried, own, repeats) : carry_ring(carried, own, repeats);
  }
  moments(ring.ranks) = carried;
  return true;
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

Repeats::Repeats(RankTimes& moments, const Schedule& schedule, const Phase& phase)
    : moments_(moments), schedule_(schedule), phase_(phase), is_pipeline_(phase.window != 0) {
  if (is_pipeline_) before_ = moments_;
}

void Repeats::carry_once(const TransferCosts& costs) {
  RankTimes next = moments_;
  std::vector<Arrival> to_reduce;
  for_each_transfer(schedule_, phase_, repeat_, [&](const Transfer& transfer, std::size_t index) {
    const auto i = static_cast<Eigen::Index>(index);
    double start = moments_[transfer.from];
    if (costs.waits.size() > 0 && costs.waits[i]) start = std::max(start, posted(transfer.to));
    const double done = start + costs.sending[i];
    next[transfer.from] = std::max(next[transfer.from], done);
    if (costs.reducing[i] > 0) {
      to_reduce.push_back({transfer.to, std::max(done, moments_[transfer.to]), costs.reducing[i]});
    } else {
      next[transfer.to] = std::max(next[transfer.to], done);
    }
  });
  reduce(std::move(to_reduce), next);
  moments_.swap(next);
  if (is_pipeline_) before_.swap(next);
  ++repeat_;
}

void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, const TransferCosts& costs) {
  const std::vector<Ring> rings = phase.repeats > 1 ? rings_of(phase, moments.size()) : std::vector<Ring>();
  RankTimes carried = moments;
  const auto carry_it = [&](const Ring& ring) { return carry_along(ring, carried, phase.repeats, costs); };
  if (!rings.empty() && std::ranges::all_of(rings, carry_it)) {
    moments.swap(carried);
    return;
  }
  Repeats repeats(moments, schedule, phase);
  for (int repeat = 0; repeat < phase.repeats; ++repeat) repeats.carry_once(costs);
}

}  // namespace farandole
