// One moment or one factor per rank, as an Eigen array: what differs between ranks that otherwise behave alike.
#pragma once

#include <Eigen/Core>

#include "units/quantity.hpp"

// Loops over ranks by the thousand, asked about every gradient of every iteration, are compiled for the widest
// registers that the processor has; without fused multiplications, so that results are the same on all of them.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FARANDOLE_WIDE __attribute__((target_clones("default", "avx2")))
#else
#define FARANDOLE_WIDE
#endif

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
