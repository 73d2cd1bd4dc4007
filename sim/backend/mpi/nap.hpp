// How a rank waits that shares its processor with others: asleep, until a message may have come.
//
// MPI libraries wait in a loop that looks again and again. With more ranks than processors those loops take the time
// that the others, and the network itself where it is emulated, would need. A nap ends when one of the library's epoll
// instances has an event (Open MPI over TCP, with `opal_event_include epoll`), at the latest after its length.
#pragma once

#include <vector>

#include <poll.h>

#include "units/quantity.hpp"

namespace farandole {

class Nap {
 public:
  /// `longest`: 0 for never. Made once MPI has been initialised.
  explicit Nap(Seconds longest);

  [[nodiscard]] bool is_allowed() const { return longest_ > Seconds(0); }
  /// Returns at once where naps are not allowed.
  void take(Seconds at_most);

 private:
  Seconds longest_;
  std::vector<pollfd> events_;
};

}  // namespace farandole
