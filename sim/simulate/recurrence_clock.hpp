// The clocks of `analytic` and `flow`: a cost per round and transfer, carried through the rounds by the recurrence.
//
// Rates are worked out once, for a network on which all ranks take part at once: folded, for one transfer of each
// class. Ranks that all start together are carried through the rounds by class too, others one by one, and so are all
// where chunks differ by a byte: what that changes is how long a transfer takes at its rate. Phases whose repeats cost
// differently are worked out as they are carried, and remembered, for they depend neither on the size nor on the start;
// of long ones no more than a bounded number, so that a clock stays small. What a phase costs is remembered by size: a
// job asks for the same sizes in every iteration.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "simulate/collective_clock.hpp"
#include "simulate/folding/fold.hpp"
#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace simulate {

class RecurrenceClock final : public CollectiveClock {
 public:
  static constexpr std::size_t most_uneven = std::size_t{1} << 22;
  /// `uneven`: so many transfers are counted with their own chunks where these differ by a byte; more are counted as
  /// the longest (`Provenance` says so), as those of a phase that repeats the same transfers always are.
  RecurrenceClock(RoutedSchedule routed, Sharing sharing, ClockOptions options, std::size_t uneven = most_uneven);
  RecurrenceClock(const RecurrenceClock&) = delete;
  RecurrenceClock& operator=(const RecurrenceClock&) = delete;
  ~RecurrenceClock() override = default;

  Answer answer(Bytes size, const RankTimes& start) override;
  [[nodiscard]] bool is_barrier(Bytes size) override;

 private:
  /// Folds and works out rates, when they are first needed: not by pipelines in which nobody shares a link.
  void prepare();
  [[nodiscard]] TransferRates rates_of_all(std::size_t phase) const;
  [[nodiscard]] std::optional<Bytes> size_rounded_up(const ChunkSizes& sizes) const;
  [[nodiscard]] bool costs_the_same_within_classes(const ChunkSizes& sizes) const;
  /// Which transfers take part in a repeat of a phase whose repeats differ, and their rates.
  using KnownRound = std::pair<std::vector<std::size_t>, TransferRates>;
  using KnownRounds = std::map<std::pair<std::size_t, int>, KnownRound>;  // by phase and repeat
  /// Through all phases, with the rates of those whose costs do not vary, and the remembered ones of the others.
  /// `apart`: the size, of all ranks that do not start together: nobody else remembers how they ended.
  RankTimes carried(const RoutedSchedule& network, RankTimes moments, const ChunkSizes& sizes,
                    std::optional<Bytes> apart = {});
  const KnownPhase* known_phase(std::size_t phase, Bytes size, const ChunkSizes& sizes);
  bool is_unshared(std::size_t phase);
  /// What the transfers of every repeat cost; one by one, where only receivers move, all go at the rates of their
  /// classes.
  using VisitRepeat = std::function<void(const TransferCosts& costs, const std::vector<std::size_t>& transfers)>;
  void for_each_repeat(const RoutedSchedule& network, std::size_t phase, const ChunkSizes& sizes,
                       const VisitRepeat& visit);
  void carry_varying(RankTimes& moments, const RoutedSchedule& network, std::size_t phase, const ChunkSizes& sizes);
  /// Valid until the next call. `rates`: of the network, set up only for repeats that are not remembered.
  const KnownRound& round_of(const RoutedSchedule& network, std::size_t phase, int repeat,
                             std::optional<RoundRates>& rates);

  RoutedSchedule routed_;
  Sharing sharing_;
  ClockOptions options_;
  bool used_builtin_solver_ = false;  // for the rates that are known
  std::size_t most_uneven_;
  bool is_prepared_;
  std::optional<Folding> folding_;
  std::vector<TransferRates> rates_;  // per phase, of the quotient if there is one; empty where costs vary
  KnownRounds varying_;               // of all ranks one by one
  KnownRounds varying_folded_;        // of the quotient
  KnownRound unremembered_;           // the last one of too many
  Eigen::Index remembered_ = 0;       // transfers in both
  /// Of all ranks, by size and phase; nothing where one has to go through the rounds.
  std::map<std::pair<Bytes, std::size_t>, std::optional<KnownPhase>> known_;
  std::size_t known_transfers_ = 0;       // of them
  std::map<std::size_t, bool> unshared_;  // of pipelines, by phase
};

}}  // namespace farandole::simulate
