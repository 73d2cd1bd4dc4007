#include "simulate/device_share.hpp"

namespace farandole {

RankTimes DeviceShare::finish(const RankTimes& begin, const RankTimes& work,
                              std::span<const CommunicationTimes> communications) const {
  if (share_ == 0) return begin + work;
  RankTimes done = begin + work;  // were nothing more to come
  for (const CommunicationTimes& times : communications) {
    const RankTimes start = times.reducing.max(begin);
    const RankTimes slowed = (done - start).max(0) / (1 - share_);  // how long the rest takes beside this collective
    const RankTimes beside = slowed.min((times.reduced - start).max(0));
    done += share_ * beside;
  }
  return done;
}

}  // namespace farandole
