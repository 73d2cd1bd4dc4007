// How far apart the switches are that nodes are plugged into: the greatest number of cables on a shortest way.
//
// Called by `farandole show topology`. Looks from at most 64 of the switches, evenly picked: on networks whose switches
// are alike as exact as from all. O(64 x cables). Switches that cannot be reached do not count.
#pragma once

#include "platform/platform.hpp"

namespace farandole {

int diameter(const Platform& platform);

}  // namespace farandole
