#include "timeline/result.hpp"

namespace farandole {

Seconds Breakdown::total() const {
  return compute + exposed_communication + negotiation + straggler + input + checkpoint + other;
}

}  // namespace farandole
