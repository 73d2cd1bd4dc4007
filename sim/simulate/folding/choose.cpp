#include <utility>

#include "simulate/folding/fold.hpp"
#include "simulate/folding/orbits.hpp"
#include "simulate/folding/parts.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// Crossings of links beyond which colouring would cost too much memory: about 40 bytes each.
constexpr std::size_t most_crossings = std::size_t{1} << 23;

std::size_t count_crossings(const RoutedSchedule& routed) {
  std::size_t sum = 0;
  for (std::size_t phase = 0; phase < routed.schedule().phases.size(); ++phase) {
    for (const RoutedSchedule::Leg& leg : routed.legs(phase)) sum += leg.links.size();
  }
  return sum;
}

/// What represents all may have transfers that are alike among its own.
Folding folded_again(Folding once) {
  if (!is_foldable(once.quotient.schedule()) || count_crossings(once.quotient) > most_crossings) return once;
  Folding twice = fold(once.quotient);
  std::vector<int> class_of_rank;
  class_of_rank.reserve(once.class_of_rank.size());
  for (const int rank : once.class_of_rank) {
    class_of_rank.push_back(twice.class_of_rank[static_cast<std::size_t>(rank)]);
  }
  const auto classes = [first = std::move(once.later_classes),
                        then = std::move(twice.class_of_transfer)](std::size_t phase) {
    std::vector<int> result = first(phase);
    for (int& transfer : result) transfer = then[phase][static_cast<std::size_t>(transfer)];
    return result;
  };
  return {std::move(twice.quotient), std::move(class_of_rank), {}, classes};
}

}  // namespace

std::optional<Folding> fold_before_routing(const RoutedSchedule& routed) {
  std::optional<Folding> folding = fold_by_moves(routed);
  if (!folding) folding = fold_by_parts(routed);
  if (folding) folding = folded_again(*std::move(folding));
  return folding;
}

std::optional<Folding> worthwhile_folding(const RoutedSchedule& routed, const RankTimes& start) {
  std::optional<Folding> folding;
  if ((start == start[0]).all()) folding = fold_before_routing(routed);
  if (!folding && is_foldable(routed.schedule())) folding = fold(routed, start);
  if (folding && !folding->is_worthwhile()) folding.reset();
  return folding;
}

}}  // namespace farandole::simulate
