// The least time any allreduce can take on the links it was given.
//
// Latency: information from n ranks cannot meet in fewer than ceil(log2 n) consecutive messages. Bandwidth: on average
// a rank sends 2 (n-1)/n of the data (Patarasuk and Yuan, JPDC 69(2), 2009), and none can send faster than its first
// links allow together.
#pragma once

#include "simulate/routed_schedule.hpp"

namespace farandole {

struct CollectiveBounds {
  Seconds latency;
  BytesPerSecond injection;  // the best-connected rank's
  int ranks = 1;

  [[nodiscard]] Seconds least_time(Bytes size) const;
};

CollectiveBounds bounds_of(const RoutedSchedule& routed);

}  // namespace farandole
