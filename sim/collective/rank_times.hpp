// One moment or one factor per rank, as an Eigen array: what differs between ranks that otherwise behave alike.
#pragma once

#include <Eigen/Core>

#include "units/quantity.hpp"

namespace farandole { inline namespace collective {

/// Element r belongs to rank r. Moments are seconds since the start of the run.
using RankTimes = Eigen::ArrayXd;

inline RankTimes all_at(int ranks, Seconds moment) {
  return RankTimes::Constant(ranks, moment.si());
}
inline Seconds latest(const RankTimes& moments) {
  return Seconds(moments.maxCoeff());
}
inline Seconds earliest(const RankTimes& moments) {
  return Seconds(moments.minCoeff());
}

}}  // namespace farandole::collective
