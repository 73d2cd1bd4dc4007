#include "collective/rank_times.hpp"

#include <algorithm>

namespace farandole { inline namespace collective {
namespace {

/// Of at least one, each times `sign`. Sixteen maxima side by side: one after the other would wait for the one before.
FARANDOLE_WIDE double greatest(const double* moments, Eigen::Index count, double sign) {
  using Lanes [[gnu::vector_size(32), gnu::aligned(8), gnu::may_alias]] = double;
  const auto* const lanes = reinterpret_cast<const Lanes*>(moments);
  double best = sign * moments[0];
  Lanes found[] = {best - Lanes{}, best - Lanes{}, best - Lanes{}, best - Lanes{}};
  Eigen::Index rank = 0;
  for (; rank + 16 <= count; rank += 16) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      found[i] = lanes[rank / 4 + i] * sign > found[i] ? lanes[rank / 4 + i] * sign : found[i];
  }
  for (int i = 1; i < 4; ++i) found[0] = found[i] > found[0] ? found[i] : found[0];
  best = std::max({found[0][0], found[0][1], found[0][2], found[0][3]});
  for (; rank < count; ++rank) best = std::max(best, sign * moments[rank]);
  return best;
}

}  // namespace

Seconds latest(const RankTimes& moments) {
  return Seconds(greatest(moments.data(), moments.size(), 1));
}

Seconds earliest(const RankTimes& moments) {
  return Seconds(-greatest(moments.data(), moments.size(), -1));
}

}}  // namespace farandole::collective
