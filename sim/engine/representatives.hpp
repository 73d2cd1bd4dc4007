// Ranks that stand for all others through an iteration, where whatever ranks do together is a barrier.
//
// A rank is never earlier than another of its group that begins no later and computes no slower, and a barrier ends
// with the last to join it: of ranks that meet the same others, those with nobody both later and slower decide when it
// is over, some ln n of n. Groups meet others in turn. Where that is a barrier, too, the slowest and the latest of them
// are looked at, and of all others a bound, as late as the latest and as slow as the slowest of them, which nobody
// waits for. Where it is the last anywhere, these ranks did not stand for all, and the iteration is gone through again
// with more of them. Where it is none, and all ranks of a group join it at once, every group is looked at.
//
// Called by the trainer of one job by itself (training/trainer.hpp). Lines of its arrays are ranks that stand.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/task.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole { inline namespace engine {

class Representatives {
 public:
  /// Who meets whom: so many neighbouring ranks by `within`; by other groups their neighbourhoods, each rank those at
  /// the same place of others or, where all of a neighbourhood join at once, whomever.
  struct Meetings {
    int ranks = 1;
    int neighbours = 1;
    Group within = Group::shards;
    bool by_place = false;  // every rank of a chosen neighbourhood is a line
  };
  explicit Representatives(Meetings meetings) : meetings_(meetings) {}

  /// For an iteration that ranks begin then, and compute in at such factors.
  void choose(const RankTimes& begin, const RankTimes& factors);
  [[nodiscard]] const RankTimes& begin() const { return begin_; }
  [[nodiscard]] const RankTimes& factors() const { return factors_; }

  Answer answer(CollectiveClock& clock, const Collective& collective, const RankTimes& start);
  /// Moments of any stage.
  void look_at(const RankTimes& moments);
  /// Whether nothing hinged on others. `synchronised`: when their update begins.
  bool stood_for_all(const RankTimes& synchronised);
  void choose_more_from_now_on();
  /// The same of all ranks.
  [[nodiscard]] RankTimes of_all(const RankTimes& synchronised) const;

 private:
  [[nodiscard]] int neighbourhoods() const { return meetings_.ranks / meetings_.neighbours; }
  [[nodiscard]] Eigen::Index places() const { return meetings_.by_place ? meetings_.neighbours : 1; }
  /// Else every neighbourhood was looked at.
  [[nodiscard]] bool has_bound() const { return std::ssize(lines_) > chosen_; }
  [[nodiscard]] std::vector<int> slowest_and_latest(const RankTimes& begin, const RankTimes& factors) const;
  void add_neighbours(int first, const RankTimes& begin, const RankTimes& factors);
  void add_front(int first, const RankTimes& begin, const RankTimes& factors);
  void add_bound(const std::vector<int>& chosen, const RankTimes& begin, const RankTimes& factors);
  [[nodiscard]] bool joins_at_once(const RankTimes& moments) const;
  Answer meet_in_turn(CollectiveClock& clock, Bytes size, const RankTimes& start);
  const std::optional<Answer>& barrier_of(CollectiveClock& clock, const Collective& collective);

  Meetings meetings_;
  int slowest_ = 8;       // neighbourhoods that are looked at, or all
  bool are_all_ = false;  // in this iteration every rank stands for itself
  bool gave_up_ = false;
  bool stood_ = true;
  RankTimes begin_;
  RankTimes factors_;
  std::vector<std::array<double, 2>> lines_;                           // begin and factor
  std::vector<std::pair<Eigen::Index, Eigen::Index>> neighbourhoods_;  // lines of each: the first, how many
  Eigen::Index chosen_ = 0;                                            // lines that are no bound
  std::map<std::tuple<Operation, Group, bool, Bytes>, std::optional<Answer>> barriers_;
};

}}  // namespace farandole::engine
