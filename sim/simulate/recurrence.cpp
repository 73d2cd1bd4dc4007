#include "simulate/recurrence.hpp"

#include <algorithm>

namespace farandole {
namespace {

/// Rank i sends to rank i + 1 (modulo n) in transfer i: the ring, which Eigen can vectorise.
bool is_ring(const Phase& phase, Eigen::Index ranks) {
  if (static_cast<Eigen::Index>(phase.transfers.size()) != ranks) return false;
  if (phase.peer_step != 0 || phase.fan != 1 || phase.window != 0) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    const Transfer& transfer = phase.transfers[static_cast<std::size_t>(rank)];
    if (transfer.from != rank || transfer.to != (rank + 1) % ranks) return false;
  }
  return true;
}

void carry_ring(RankTimes& moments, const Phase& phase, const TransferCosts& costs) {
  const Eigen::Index n = moments.size();
  if (phase.repeats >= n - 1 && (costs == costs[0]).all()) {
    moments.setConstant(moments.maxCoeff() + phase.repeats * costs[0]);
    return;
  }
  RankTimes sent(n);
  for (int repeat = 0; repeat < phase.repeats; ++repeat) {
    sent = moments + costs;
    moments.tail(n - 1) = sent.tail(n - 1).max(sent.head(n - 1));
    moments[0] = std::max(sent[0], sent[n - 1]);
  }
}

}  // namespace

void carry_once(RankTimes& moments, const Schedule& schedule, const Phase& phase, int repeat,
                const TransferCosts& costs) {
  RankTimes next = moments;
  for_each_transfer(schedule, phase, repeat, [&](const Transfer& transfer, std::size_t index) {
    const double done = moments[transfer.from] + costs[static_cast<Eigen::Index>(index)];
    next[transfer.from] = std::max(next[transfer.from], done);
    next[transfer.to] = std::max(next[transfer.to], done);
  });
  moments.swap(next);
}

void carry(RankTimes& moments, const Schedule& schedule, const Phase& phase, const TransferCosts& costs) {
  if (is_ring(phase, moments.size())) {
    carry_ring(moments, phase, costs);
    return;
  }
  for (int repeat = 0; repeat < phase.repeats; ++repeat) carry_once(moments, schedule, phase, repeat, costs);
}

}  // namespace farandole
