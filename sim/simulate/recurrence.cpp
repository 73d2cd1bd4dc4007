#include "simulate/recurrence.hpp"

#include <algorithm>

namespace farandole {
namespace {

/// Rank i sends to rank i + 1 (modulo n) in transfer i: the ring, which Eigen can vectorise.
bool is_ring(const Phase& phase, Eigen::Index ranks) {
  if (static_cast<Eigen::Index>(phase.transfers.size()) != ranks) return false;
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

void carry_any(RankTimes& moments, const Phase& phase, const TransferCosts& costs) {
  RankTimes next = moments;
  for (int repeat = 0; repeat < phase.repeats; ++repeat) {
    for (std::size_t t = 0; t < phase.transfers.size(); ++t) {
      const Transfer& transfer = phase.transfers[t];
      const double done = moments[transfer.from] + costs[static_cast<Eigen::Index>(t)];
      next[transfer.from] = std::max(next[transfer.from], done);
      next[transfer.to] = std::max(next[transfer.to], done);
    }
    moments = next;
  }
}

}  // namespace

void carry(RankTimes& moments, const Phase& phase, const TransferCosts& costs) {
  if (is_ring(phase, moments.size())) {
    carry_ring(moments, phase, costs);
  } else {
    carry_any(moments, phase, costs);
  }
}

}  // namespace farandole
