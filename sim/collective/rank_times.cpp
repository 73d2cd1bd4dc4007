#include "collective/rank_times.hpp"

namespace farandole { inline namespace collective {

// With all that they call: of a template that rooms compile with other options the linker takes any room's.

[[gnu::flatten]] Seconds latest(const RankTimes& moments) {
  return Seconds(moments.maxCoeff());
}

[[gnu::flatten]] Seconds earliest(const RankTimes& moments) {
  return Seconds(moments.minCoeff());
}

}}  // namespace farandole::collective
