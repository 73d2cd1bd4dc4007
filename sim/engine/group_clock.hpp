// The clock of a collective in groups of ranks, which all meet at once.
//
// Of groups that are alike one is timed for all (scenario/job_clocks.hpp says which). Where a group is a barrier, when
// its last rank joins says when all of it ends, whatever the others do: a pass over the ranks, as layers of tensor
// groups need by the thousand.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/company.hpp"

namespace farandole { inline namespace engine {

class GroupClock final : public CollectiveClock {
 public:
  /// For each group the one that stands for it, of collectives of a size, and what carries that out.
  using AlikeOf = std::function<const std::vector<std::size_t>&(Bytes)>;
  using CarriageOf = std::function<const Carriage&(std::size_t group, Bytes)>;
  /// `members`: of each group the ranks; all as many. Must outlive it.
  GroupClock(const std::vector<std::vector<int>>& members, AlikeOf alike_of, CarriageOf carriage_of)
      : members_(members), alike_of_(std::move(alike_of)), carriage_of_(std::move(carriage_of)) {}

  Answer answer(Bytes size, const RankTimes& start) override;
  [[nodiscard]] bool is_barrier(Bytes size) override;
  std::optional<Answer> answer_of_any_group(Bytes size, const RankTimes& start) override;
  [[nodiscard]] bool has_launch() const override { return true; }
  void release_network() override {
    if (last_ != nullptr) last_->release_network();
  }

 private:
  /// Groups that are alike, of which the first is timed.
  struct Class {
    std::size_t first;
    std::vector<std::size_t> groups{};
    std::optional<Answer> barrier{};  // ends of one whose last rank joins at 0
  };
  const std::vector<Class>& classes_of(Bytes size);
  void answer_apart(const Class& alike, Bytes size, const RankTimes& start, Answer& all);
  Answer of_group(const Carriage& carriage, Bytes size, const RankTimes& start);

  const std::vector<std::vector<int>>& members_;
  AlikeOf alike_of_;
  CarriageOf carriage_of_;
  CollectiveClock* last_ = nullptr;
  std::map<Bytes, std::vector<Class>> classes_;  // by size
};

}}  // namespace farandole::engine
