#include "simulate/folding/folded_message_clock.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "collective/chunk_sizes.hpp"
#include "simulate/folding/fold.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Of each rank the number of its moment, in order of appearance.
std::vector<int> groups_of(const RankTimes& start) {
  std::map<double, int> numbers;
  std::vector<int> groups;
  groups.reserve(static_cast<std::size_t>(start.size()));
  for (const double moment : start) {
    groups.push_back(numbers.try_emplace(moment, static_cast<int>(numbers.size())).first->second);
  }
  return groups;
}

/// All alone: what is said of a network that is not folded.
std::vector<int> everyone_apart(Eigen::Index ranks) {
  std::vector<int> groups(static_cast<std::size_t>(ranks));
  std::iota(groups.begin(), groups.end(), 0);
  return groups;
}

/// Whether a rank that stands for all sends one message at a time, which has its links for itself.
bool is_unshared(const RoutedSchedule& of_one, const MessageRecurrence& recurrence) {
  RoundRates rates(of_one, Sharing::simulated, NetworkSolver::own);
  bool have_room = recurrence.never_meet();
  for (std::size_t phase = 0; phase < of_one.schedule().phases.size(); ++phase)
    have_room = have_room && rates.have_room(phase);
  return have_room;
}

}  // namespace

std::optional<Bytes> FoldedMessageClock::size_rounded_up(Bytes size) {
  const Schedule& schedule = routed_.schedule();
  const ChunkSizes chunks(size, schedule);
  const std::int64_t most = uneven_.value_or(most_uneven(chunks.largest()));
  if (!chunks.differ_by_a_byte() || policy_ == FoldingPolicy::never || MessageClock::messages_of(schedule) <= most) {
    return std::nullopt;
  }
  constexpr std::size_t most_ways = std::size_t{1} << 22;
  std::size_t ways = 0;
  for (const Phase& phase : schedule.phases) ways += transfers_per_round(phase);
  if (ways <= most_ways && recurrence().never_meet()) return std::nullopt;
  return chunks.size_of_longest();
}

/// A job's collectives come back in the same groups: what each of these folds to is looked for once.
void FoldedMessageClock::choose(std::vector<int> groups, const RankTimes& start) {
  const auto distinct = static_cast<std::size_t>(*std::ranges::max_element(groups)) + 1;
  const bool may_fold = policy_ != FoldingPolicy::never && 2 * distinct <= groups.size();
  if (!may_fold) groups = everyone_apart(start.size());
  if (clock_ != nullptr && groups == groups_) return;
  groups_ = std::move(groups);
  std::optional<Folding> folding;
  if (may_fold) {
    if (foldings_.size() >= most_foldings) foldings_.clear();
    const auto [known, is_new] = foldings_.try_emplace(groups_);
    if (is_new) known->second = worthwhile_folding(routed_, start);
    folding = known->second;
  }
  if (clock_ != nullptr && !folding && !folding_) return;
  clock_.reset();
  of_one_.reset();
  folding_ = std::move(folding);
  if (folding_ && folding_->quotient.schedule().ranks == 1) {
    of_one_.emplace(folding_->quotient);
    if (!is_unshared(folding_->quotient, *of_one_)) of_one_.reset();
  }
  clock_ = std::make_unique<MessageClock>(folding_ ? folding_->quotient : routed_, network_);
}

Answer FoldedMessageClock::answer(Bytes size, const RankTimes& start) {
  const auto& phases = routed_.schedule().phases;
  const bool together = (start == start[0]).all();
  if (!together && policy_ == FoldingPolicy::where_exact && phases.size() == 1 && phases.front().window > 0) {
    if (auto ends = recurrence().of_pipeline(size, start)) return {*std::move(ends), {}};
  }
  std::vector<int> groups = groups_of(start);
  const bool is_even = ChunkSizes(size, routed_.schedule()).equal();
  const std::optional<Bytes> rounded = is_even ? std::nullopt : size_rounded_up(size);
  choose(is_even || rounded ? std::move(groups) : everyone_apart(start.size()), start);
  const Bytes counted = folding_ ? rounded.value_or(size) : size;
  if (folding_) {
    const RankTimes own = folding_->of_classes(start);
    std::optional<RankTimes> ends = of_one_ ? of_one_->completion_times(counted, own) : std::nullopt;
    Answer answer = ends ? Answer{*std::move(ends), {}} : clock_->answer(counted, own);
    answer.ends = folding_->of_ranks(answer.ends);
    answer.provenance.folded = true;
    if (rounded) answer.provenance.rounded_up = 1_B / ChunkSizes(size, routed_.schedule()).largest();
    return answer;
  }
  if (policy_ == FoldingPolicy::where_exact) {
    if (std::optional<RankTimes> ends = recurrence().completion_times(counted, start)) return {*std::move(ends), {}};
  }
  return clock_->answer(counted, start);
}

}}  // namespace farandole::simulate
