// What handshakes that queue behind data (Handshakes of platform/platform.hpp) cost a round of long messages, in closed
// form: what message by message comes out in the mean (simulate/message_run.cpp), for clocks that go round
// by round.
#pragma once

#include <vector>

#include "simulate/transfer_costs.hpp"

namespace farandole { inline namespace simulate {

/// Lengthens `sending` of every long message between nodes by its handshake and what the answer stands behind:
///
///   what its receiver sends its sender in this round, if that is a long message (they go one after the other);
///   else of each long message that its receiver sends, what has gone half of the time: min(ahead, bytes / 2) / rate.
///
/// `bytes` are those of the round's transfers; `routed` must have handshakes, and one rank per rank (no folded
/// network).
void wait_in_line(const RoutedSchedule& routed, const Round& round, const std::vector<Bytes>& bytes,
                  TransferCosts& costs);

}}  // namespace farandole::simulate
