#include "engine/group_clock.hpp"

#include <algorithm>
#include <utility>

namespace farandole { inline namespace engine {
namespace {

/// Any order in which moments can be looked up.
struct Earlier {
  bool operator()(const RankTimes& a, const RankTimes& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};

/// `after`: of the last rank.
void join(const std::vector<int>& members, const RankTimes& start, const RankTimes& after, RankTimes& ends) {
  double last = start[members.front()];
  for (const int rank : members) last = std::max(last, start[rank]);
  for (std::size_t i = 0; i < members.size(); ++i) ends[members[i]] = last + after[static_cast<Eigen::Index>(i)];
}

}  // namespace

Answer GroupClock::answer(Bytes size, const RankTimes& start) {
  if (members_.front().size() == 1 || size == Bytes(0)) return {start, {}};
  Answer all{RankTimes(start.size()), {.folded = true}};
  for (const Class& alike : classes_of(size)) {
    if (alike.barrier) {
      all.provenance.include(alike.barrier->provenance);
      for (const std::size_t group : alike.groups) join(members_[group], start, alike.barrier->ends, all.ends);
    } else {
      answer_apart(alike, size, start, all);
    }
  }
  return all;
}

bool GroupClock::is_barrier(Bytes size) {
  if (members_.front().size() == 1 || size == Bytes(0)) return false;
  return std::ranges::all_of(classes_of(size), [](const Class& alike) { return alike.barrier.has_value(); });
}

std::optional<Answer> GroupClock::answer_of_any_group(Bytes size, const RankTimes& start) {
  if (members_.front().size() == 1 || size == Bytes(0)) return Answer{start, {}};
  const std::vector<Class>& classes = classes_of(size);
  if (classes.size() > 1) return std::nullopt;
  return of_group(carriage_of_(classes.front().first, size), size, start);
}

/// Groups that start alike end alike.
void GroupClock::answer_apart(const Class& alike, Bytes size, const RankTimes& start, Answer& all) {
  const Carriage& carriage = carriage_of_(alike.first, size);
  const bool is_together = (start == start(0)).all();
  std::map<RankTimes, RankTimes, Earlier> known;
  for (const std::size_t group : alike.groups) {
    auto place = known.begin();
    if (known.empty() || !is_together) place = known.try_emplace(start(members_[group])).first;
    if (place->second.size() == 0) {
      Answer answer = of_group(carriage, size, place->first);
      place->second = std::move(answer.ends);
      all.provenance.include(answer.provenance);
    }
    all.ends(members_[group]) = place->second;
  }
}

const std::vector<GroupClock::Class>& GroupClock::classes_of(Bytes size) {
  const auto [place, is_new] = classes_.try_emplace(size);
  if (!is_new) return place->second;
  std::map<std::size_t, Class> by_first;
  const std::vector<std::size_t>& alike = alike_of_(size);
  for (std::size_t group = 0; group < alike.size(); ++group) {
    by_first.try_emplace(alike[group], Class{alike[group]}).first->second.groups.push_back(group);
  }
  for (auto& [first, own] : by_first) {
    const Carriage& carriage = carriage_of_(first, size);
    Answer together = of_group(carriage, size, RankTimes::Zero(static_cast<Eigen::Index>(members_[first].size())));
    if (last_->is_barrier(size)) own.barrier = std::move(together);
    place->second.push_back(std::move(own));
  }
  return place->second;
}

Answer GroupClock::of_group(const Carriage& carriage, Bytes size, const RankTimes& start) {
  if (last_ != nullptr && last_ != carriage.alone.get()) last_->release_network();
  last_ = carriage.alone.get();
  Answer answer = last_->answer(size, in_order(start, carriage.order) + carriage.launch.si());
  if (!carriage.order.empty()) answer.ends = in_ranks(answer.ends, carriage.order);
  return answer;
}

}}  // namespace farandole::engine
