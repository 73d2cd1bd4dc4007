// Any number of ranks folded onto a power of two, and the exchanges that power-of-two algorithms are made of.
//
// With n = p + e ranks, p the largest power of two, one rank of each pair below 2e hands its part to the other; the p
// ranks that are left, called members, exchange; the ranks that handed over get their results back. Members are
// numbered in order of rank. As in MPICH, where the odd rank of a pair stays a member in all but a reduce; Thakur,
// Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", IJHPCA 19(1), 2005, sections
// 4.1 and 4.5. Open MPI's Rabenseifner has pairs split the work of the fold (`fold_by_halves`).
//
// Halves are exchanged in one of two orders, with the same bytes in as many rounds. At halving distance the largest
// messages go to the farthest member, at doubling distance to the nearest: where neighbours share a node, its link
// carries the less of the two.
#pragma once

#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

class FoldedRanks {
 public:
  /// Which rank of a pair stays a member.
  enum class Stays { odd, even };
  explicit FoldedRanks(int ranks, Stays stays = Stays::odd);

  [[nodiscard]] int members() const { return members_; }
  [[nodiscard]] int extra() const { return extra_; }
  [[nodiscard]] int rank_of(int member) const { return member < extra_ ? 2 * member + odd_ : member + extra_; }
  /// The lowest rank a member stands for; of `members()`: how many ranks there are.
  [[nodiscard]] int first_rank_of(int member) const { return member < extra_ ? 2 * member : member + extra_; }
  [[nodiscard]] bool is_member(int rank) const { return rank >= 2 * extra_ || rank % 2 == odd_; }
  [[nodiscard]] int member_of(int rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }

  /// The phase before, in which the ranks that are no members hand over chunks, or none where n is a power of two:
  /// appended to phases.
  void fold(std::vector<Phase>& phases, const Transfer& model) const;
  /// The same in two phases: a pair exchanges halves of the chunks 0 .. members-1, each adds one up, and the rank that
  /// is no member hands over its sum.
  void fold_by_halves(std::vector<Phase>& phases) const;
  /// The phase after, in which they get them back.
  void unfold(std::vector<Phase>& phases, const Transfer& model) const;

  /// How the chunks belong to members: one each, or one for each rank a member stands for.
  enum class Blocks { of_members, of_ranks };
  /// In log2 p rounds, at halving distance, members send the half of what they hold that is not theirs, to be added.
  void halve(std::vector<Phase>& phases, Blocks blocks) const;
  /// In log2 p rounds, at doubling distance, members send all that they hold.
  void double_up(std::vector<Phase>& phases, Blocks blocks) const;

  /// The blocks (of members) that a member holds when halves were exchanged at distance 1, 2, ..., `distance` / 2: of
  /// its bits, the lowest picks a half, the next a half of that.
  struct Window {
    int first;
    int count;
  };
  [[nodiscard]] Window window(int member, int distance) const;
  /// As halve, at doubling distance. A member is left with the block whose number is its own with the bits reversed.
  void halve_nearest_first(std::vector<Phase>& phases, Blocks blocks) const;
  /// The way back: at halving distance, members send all that they hold.
  void double_farthest_first(std::vector<Phase>& phases) const;

 private:
  /// `count` blocks of members from `first` on.
  [[nodiscard]] Transfer blocks_between(int from, int to, Window part, Blocks blocks, Action action) const;
  /// What `from` sends `to`: the blocks of the aligned group of `size` members that holds `owner`.
  /// A transfer like the model in every pair, to the member or from it.
  [[nodiscard]] Phase in_pairs(const char* name, const Transfer& model, bool to_member) const;

  int members_ = 1;
  int extra_ = 0;
  int odd_ = 1;  // the member of a pair is its odd rank: 1, or its even one: 0
};

}}  // namespace farandole::collective
