// Any number of ranks folded onto a power of two, and the exchanges that power-of-two algorithms are made of.
//
// With n = p + e ranks, p the largest power of two, each even rank below 2e hands its part to the odd rank above it;
// the p ranks that are left, called members, exchange; the even ranks get their results back. Members are numbered in
// order of rank. As in MPICH; Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in
// MPICH", IJHPCA 19(1), 2005, sections 4.1 and 4.5.
#pragma once

#include "collective/schedule.hpp"

namespace farandole {

class FoldedRanks {
 public:
  explicit FoldedRanks(int ranks);

  [[nodiscard]] int members() const { return members_; }
  [[nodiscard]] int extra() const { return extra_; }
  [[nodiscard]] int rank_of(int member) const { return member < extra_ ? 2 * member + 1 : member + extra_; }
  /// The lowest rank a member stands for; of `members()`: how many ranks there are.
  [[nodiscard]] int first_rank_of(int member) const { return member < extra_ ? 2 * member : member + extra_; }

  /// The phase before, in which the even ranks hand over chunks, or none where n is a power of two: appended to phases.
  void fold(std::vector<Phase>& phases, const Transfer& model) const;
  /// The phase after, in which they get them back.
  void unfold(std::vector<Phase>& phases, const Transfer& model) const;

  /// How the chunks belong to members: one each, or one for each rank a member stands for.
  enum class Blocks { of_members, of_ranks };
  /// In log2 p rounds, at halving distance, members send the half of what they hold that is not theirs, to be added.
  void halve(std::vector<Phase>& phases, Blocks blocks) const;
  /// In log2 p rounds, at doubling distance, members send all that they hold.
  void double_up(std::vector<Phase>& phases, Blocks blocks) const;

 private:
  /// What `from` sends `to`: the blocks of the aligned group of `size` members that holds `owner`.
  [[nodiscard]] Transfer group(int from, int to, int owner, int size, Blocks blocks, Action action) const;

  int members_ = 1;
  int extra_ = 0;
};

}  // namespace farandole
