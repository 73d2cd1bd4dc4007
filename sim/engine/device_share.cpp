#include "engine/device_share.hpp"

namespace farandole {

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& work,
                              std::span<const TaskTimes> communications) const {
  if (share_ == 0) return begin + work;
  RankTimes done = begin + work;  // were nothing more to come
  for (const TaskTimes& times : communications) {
    // Expressions, not arrays: all of it in one pass over the ranks.
    const auto start = times.reducing.max(begin);
    const auto slowed = (done - start).max(0) / (1 - share_);  // how long the rest takes beside this collective
    done += share_ * slowed.min((times.reduced - start).max(0));
  }
  return done;
}

}  // namespace farandole
