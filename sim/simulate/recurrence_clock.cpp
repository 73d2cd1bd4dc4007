#include "simulate/recurrence_clock.hpp"

#include <algorithm>
#include <utility>

#include "simulate/invariant.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Of all transfers, from those of their classes; what keeps processors busy is left to who has the legs.
TransferRates expanded(const TransferRates& of_classes, const std::vector<int>& classes, const Phase& phase) {
  if (classes.size() != transfers_per_round(phase)) throw InvariantError("transfers without a class");
  const Eigen::Map<const Eigen::ArrayXi> members(classes.data(), static_cast<Eigen::Index>(classes.size()));
  return {of_classes.latency(members), of_classes.inverse_rate(members)};
}

/// Of a phase whose costs do not vary.
TransferCosts costs_of_all(const RoutedSchedule& network, std::size_t phase, const TransferRates& rates,
                           const ChunkSizes& sizes) {
  const std::vector<std::size_t> all = every_transfer(network.schedule().phases[phase]);
  return transfer_costs(network, {phase, 0, all}, rates, sizes);
}

/// Whether what a repeat costs depends on its receivers alone, and not on who sends how much in it.
bool only_receivers_move(const Schedule& schedule, std::size_t phase) {
  return receivers_move(schedule.phases[phase]) && schedule.phases[phase].window == 0 && schedule.weights.empty();
}

}  // namespace

RecurrenceClock::RecurrenceClock(RoutedSchedule routed, Sharing sharing, ClockOptions options, std::size_t uneven)
    : routed_(std::move(routed)),
      sharing_(sharing),
      options_(options),
      most_uneven_(uneven),
      is_prepared_(routed_.schedule().phases.empty()) {}

void RecurrenceClock::prepare() {
  if (std::exchange(is_prepared_, true)) return;
  if (options_.folding == FoldingPolicy::where_exact && !routed_.handshakes()) {
    folding_ = worthwhile_folding(routed_, all_at(routed_.schedule().ranks, Seconds(0)));
  }
  const RoutedSchedule& network = folding_ ? folding_->quotient : routed_;
  RoundRates rates(network, sharing_, options_.network);
  for (std::size_t phase = 0; phase < network.schedule().phases.size(); ++phase) {
    const std::vector<std::size_t> all = every_transfer(network.schedule().phases[phase]);
    rates_.push_back(costs_vary(network, phase) ? TransferRates{} : rates.of({phase, 0, all}));
  }
  used_builtin_solver_ = rates.used_builtin_solver();
}

TransferRates RecurrenceClock::rates_of_all(std::size_t phase) const {
  if (!folding_) return rates_[phase];
  TransferRates all = expanded(rates_[phase], folding_->classes_of_transfers(phase), routed_.schedule().phases[phase]);
  if (rates_[phase].send.size() > 0) occupy(all, routed_.legs(phase));
  return all;
}

/// Whether transfers of one class cost the same: of repeated phases all chunks are counted as the longest, unless their
/// costs vary.
bool RecurrenceClock::costs_the_same_within_classes(const ChunkSizes& sizes) const {
  if (sizes.equal()) return true;
  for (std::size_t phase = 0; phase < routed_.schedule().phases.size(); ++phase) {
    if (routed_.schedule().phases[phase].repeats == 1 || costs_vary(routed_, phase)) return false;
  }
  return true;
}

/// A size of which all chunks are as long as the longest of `size`, where transfers whose chunks differ by a byte are
/// too many to be looked at one by one.
std::optional<Bytes> RecurrenceClock::size_rounded_up(const ChunkSizes& sizes) const {
  const Schedule& schedule = routed_.schedule();
  if (!folding_ || !sizes.differ_by_a_byte()) return std::nullopt;
  std::size_t transfers = 0;
  for (std::size_t phase = 0; phase < schedule.phases.size(); ++phase) {
    const bool are_counted = schedule.phases[phase].repeats == 1 || costs_vary(routed_, phase);
    const auto rounds = static_cast<std::size_t>(schedule.phases[phase].repeats);
    if (are_counted) transfers += transfers_per_round(schedule.phases[phase]) * rounds;
  }
  if (transfers <= most_uneven_) return std::nullopt;
  return sizes.size_of_longest();
}

Answer RecurrenceClock::answer(Bytes size, const RankTimes& start) {
  const ChunkSizes whole(size, routed_.schedule());
  const bool together = (start == start[0]).all();
  if (together || !std::ranges::all_of(routed_.schedule().phases, &Phase::window)) prepare();
  const std::optional<Bytes> rounded = together ? size_rounded_up(whole) : std::nullopt;
  const ChunkSizes sizes(rounded.value_or(size), routed_.schedule());
  const bool by_class = folding_ && together && costs_the_same_within_classes(sizes);
  const auto varies = [](const TransferRates& rates) { return rates.latency.size() == 0; };
  Answer answer;
  if (!together) {
    answer.ends = carried(routed_, start, sizes, size);
  } else if (!by_class) {
    answer.ends = carried(routed_, start, sizes);
  } else {
    const RoutedSchedule& quotient = folding_->quotient;
    answer.ends = folding_->of_ranks(
        carried(quotient, folding_->of_classes(start), ChunkSizes(rounded.value_or(size), quotient.schedule())));
  }
  answer.provenance = {folding_ && (by_class || std::ranges::none_of(rates_, varies)),
                       rounded ? Bytes(1) / whole.largest() : 0, used_builtin_solver_};
  return answer;
}

/// What follows a phase that all ranks end at once is begun together.
bool RecurrenceClock::is_barrier(Bytes size) {
  if (routed_.schedule().phases.empty()) return false;
  const KnownPhase* const first = known_phase(0, size, ChunkSizes(size, routed_.schedule()));
  return first != nullptr && first->is_barrier();
}

RankTimes RecurrenceClock::carried(const RoutedSchedule& network, RankTimes moments, const ChunkSizes& sizes,
                                   std::optional<Bytes> apart) {
  const Schedule& schedule = network.schedule();
  for (std::size_t p = 0; p < schedule.phases.size(); ++p) {
    if (const KnownPhase* known = apart ? known_phase(p, *apart, sizes) : nullptr) {
      known->carry(moments);
      continue;
    }
    prepare();
    if (costs_vary(network, p)) {
      carry_varying(moments, network, p, sizes);
    } else {
      const TransferRates rates = &network == &routed_ ? rates_of_all(p) : rates_[p];
      carry(moments, schedule, schedule.phases[p], costs_of_all(network, p, rates, sizes));
    }
  }
  return moments;
}

bool RecurrenceClock::is_unshared(std::size_t phase) {
  const auto [known, is_new] = unshared_.try_emplace(phase);
  if (is_new) known->second = is_unshared_pipeline(routed_, phase, sharing_, options_.network);
  return known->second;
}

/// Null where it is not to be remembered.
const KnownPhase* RecurrenceClock::known_phase(std::size_t phase, Bytes size, const ChunkSizes& sizes) {
  constexpr std::size_t most_transfers = std::size_t{1} << 22;  // in all
  const Phase& pattern = routed_.schedule().phases[phase];
  const auto found = known_.find({size, phase});
  if (found != known_.end()) return found->second ? &*found->second : nullptr;
  const bool varies = costs_vary(routed_, phase);
  const bool shifts = varies && is_shift(routed_.schedule(), pattern) && !routed_.has_occupancy();
  const std::size_t transfers = transfers_per_round(pattern) * as_index(shifts ? pattern.repeats : 1);
  if (transfers > most_transfers) return nullptr;
  if (!varies || shifts) prepare();
  std::optional<KnownPhase> fresh;
  if (shifts) {
    std::vector<TransferCosts> of_repeats;
    for_each_repeat(routed_, phase, sizes,
                    [&](const TransferCosts& costs, const auto& /*all*/) { of_repeats.push_back(costs); });
    fresh.emplace(routed_.schedule(), pattern, std::move(of_repeats));
  } else if (!varies) {
    fresh.emplace(routed_.schedule(), pattern, costs_of_all(routed_, phase, rates_of_all(phase), sizes));
  } else if (is_unshared(phase)) {
    fresh.emplace(unshared_pipeline(routed_, phase, sizes));
  }
  if (known_transfers_ + transfers > most_transfers) {
    known_.clear();
    known_transfers_ = 0;
  }
  known_transfers_ += transfers;
  const auto& known = known_.emplace(std::pair(size, phase), std::move(fresh)).first->second;
  return known ? &*known : nullptr;
}

const RecurrenceClock::KnownRound& RecurrenceClock::round_of(const RoutedSchedule& network, std::size_t phase,
                                                             int repeat, std::optional<RoundRates>& rates) {
  constexpr Eigen::Index most_remembered = 1 << 20;  // 24 MiB
  KnownRounds& remembered = &network == &routed_ ? varying_ : varying_folded_;
  const auto known = remembered.find({phase, repeat});
  if (known != remembered.end()) return known->second;
  if (!rates) rates.emplace(network, sharing_, options_.network);
  const std::span<const std::size_t> transfers = rates->transfers(phase, repeat);
  unremembered_ = {{transfers.begin(), transfers.end()}, rates->of({phase, repeat, transfers})};
  used_builtin_solver_ |= rates->used_builtin_solver();
  if (remembered_ + std::ssize(transfers) > most_remembered) return unremembered_;
  remembered_ += std::ssize(transfers);
  return remembered.emplace(std::pair(phase, repeat), std::move(unremembered_)).first->second;
}

void RecurrenceClock::for_each_repeat(const RoutedSchedule& network, std::size_t phase, const ChunkSizes& sizes,
                                      const VisitRepeat& visit) {
  const Phase& pattern = network.schedule().phases[phase];
  const bool by_class = folding_ && &network == &routed_ && only_receivers_move(network.schedule(), phase);
  std::optional<RoundRates> source;
  if (!by_class) {
    for (int repeat = 0; repeat < pattern.repeats; ++repeat) {
      const auto& [transfers, rates] = round_of(network, phase, repeat, source);
      visit(transfer_costs(network, {phase, repeat, transfers}, rates, sizes), transfers);
    }
    return;
  }
  const std::vector<int> classes = folding_->classes_of_transfers(phase);
  const std::vector<std::size_t> all = every_transfer(pattern);
  for (int repeat = 0; repeat < pattern.repeats; ++repeat) {
    const TransferRates& of_classes = round_of(folding_->quotient, phase, repeat, source).second;
    TransferRates rates = expanded(of_classes, classes, pattern);
    if (of_classes.send.size() > 0) occupy(rates, legs_of_round(network, phase, repeat));
    visit(transfer_costs(network, {phase, repeat, all}, rates, sizes), all);
  }
}

void RecurrenceClock::carry_varying(RankTimes& moments, const RoutedSchedule& network, std::size_t phase,
                                    const ChunkSizes& sizes) {
  Repeats repeats(moments, network.schedule(), network.schedule().phases[phase]);
  const auto carry = [&](const TransferCosts& costs, const auto& all) { repeats.carry_once(costs, all); };
  for_each_repeat(network, phase, sizes, carry);
}

}}  // namespace farandole::simulate
