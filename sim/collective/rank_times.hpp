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
/// Of at least one rank.
Seconds latest(const RankTimes& moments);
Seconds earliest(const RankTimes& moments);

}}  // namespace farandole::collective
