// The least time any algorithm can take for an operation on the links it was given.
//
// Called to check every answer of every fidelity. Latency: something must arrive, so one message's. (Not ceil(log2 n)
// messages: a rank that is sent to by all at once hears from n ranks in one.) Bandwidth, with no rank sending faster
// than its first links, or receiving faster than its last ones, allow together (the first and last that all paths of
// what is split cross, if there are such):
//   on average over n ranks, each sends 2 (n-1)/n of the data in an allreduce (Patarasuk and Yuan, JPDC 69(2), 2009),
//   (n-1)/n in reduce_scatter, allgather, broadcast and reduce, where every byte must be sent on n-1 times, and in an
//   alltoall or a scatter or gather all that is not at its place from the start;
//   the root of a broadcast sends all the data, that of a reduce receives as much; of scatter and gather, all but its
//   own; all parameter servers together receive what every worker pushes, but for what it keeps as a server itself, and
//   send as much.
#pragma once

#include "simulate/routed_schedule.hpp"

namespace farandole {

struct CollectiveBounds {
  Schedule operation;         // without phases: what is asked for, not how it is done
  Seconds latency;            // the shortest way's
  BytesPerSecond injection;   // the best-connected rank's
  BytesPerSecond root_sends;  // of a parameter server: what all servers send; infinite where unknown
  BytesPerSecond root_receives;
  Bytes burst;  // what every link lets through at no time

  [[nodiscard]] Seconds least_time(Bytes size) const;
};

CollectiveBounds bounds_of(const RoutedSchedule& routed);

}  // namespace farandole
