#include "simulate/folding/choose.hpp"

#include "simulate/folding/shift.hpp"

namespace farandole {

std::optional<Folding> worthwhile_folding(const RoutedSchedule& routed, const RankTimes& start) {
  std::optional<Folding> folding;
  if (is_foldable(routed.schedule())) {
    folding = fold(routed, start);
  } else if ((start == start[0]).all()) {
    folding = fold_by_shift(routed);
  }
  if (folding && !folding->is_worthwhile()) folding.reset();
  return folding;
}

}  // namespace farandole
