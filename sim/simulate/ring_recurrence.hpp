// The max-plus recurrence of simulate/recurrence.hpp for a ring, without going through its rounds.
//
// Called by simulate/recurrence.cpp alone. Rank i sends to rank i + 1 (modulo n) in transfer i. In one round a moment
// stays at its rank at the cost stay(r) = max(c(r), w(r-1)) or moves on from rank r - 1 at the cost
// move(r) = c(r-1) + w(r-1). So through k rounds
//
//   T[k][r] = max over j <= k of  T[0][r-j] + sum of move(r-j+1 .. r) + (k-j) * max of stay(r-j .. r)
//
// (and where messages keep processors busy, stay(r) = max(c(r), o(r) + q(r-1) + w(r-1)))
// because rounds that are not moves are best spent where staying costs most on the way. Every way past a rank where it
// costs most of all has the same last factor: of these a sliding maximum finds the best for all ranks at once; ways
// between two such ranks are tried one by one. O(ranks + rounds) where such ranks are never far, as the last rank of
// every node is; O(ranks^2) at worst. Exact up to rounding.
//
// Where transfers wait for their receivers a moment also moves back, from rank r + 1 to r at the cost c(r), and stays
// at stay(r) = max(c(r), c(r-1) + w(r-1)), or as above where that is more. Through k rounds it comes along a walk of k
// steps. With m the most that a step costs anywhere, a walk is k m less what its steps cost less than m; ranks where
// staying costs m are where walks wait for free. So the best walk goes the cheapest way to such a rank, waits, and goes
// on the cheapest way: two relaxations around the ring, O(ranks), if those ways together have at most k steps and no
// walk past no such rank can be better, which is looked at. Else the rounds are gone through, O(ranks x rounds).
#pragma once

#include "simulate/recurrence.hpp"

namespace farandole {

/// The moments after `rounds` rounds; `costs` has one transfer per rank.
RankTimes carry_ring(const RankTimes& start, const TransferCosts& costs, int rounds);

/// Likewise where all transfers wait for their receivers.
RankTimes carry_waiting_ring(const RankTimes& start, const TransferCosts& costs, int rounds);

}  // namespace farandole
