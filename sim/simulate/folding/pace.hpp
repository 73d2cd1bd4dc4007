// When chunks that differ by a byte may all be counted as the longest.
//
// A schedule on a platform is *paced by its longest chunk* when
//   (a) no two transfers ever share a link: all that crosses a link has one sender, which sends one thing at a time;
//   (b) all transfers of a phase pay the same latency, are alone as fast, and are reduced at the same rate, no two by
//       one receiver;
//   (c) in every round the first chunk, which is one of the longest, is sent by a rank that took part in sending it in
//       the round before; if it was reduced then, by the one that received it.
//   (d) what a message out and one in keep a rank's processor with is within (b)'s latency, or the same for all ranks
//   and
//       phases, whose transfers are all alike then.
// Only schedules of one row, in which every transfer takes part in every repeat, are looked at.
// If all ranks start together, its makespan is then exactly
//
//   sum over phases of repeats * (latency + longest / narrowest + longest / rate of reducing)
//
// or with what keeps a processor in place of latency + longest / narrowest, where that is more.
//
// Never longer: by (a) a transfer takes latency + bytes / narrowest (and reducing), whatever else goes on, and ends of
// such rounds are monotonic in what each transfer takes. Never shorter: by (c) the first chunk's rounds follow one
// another. The ring on a star is such a schedule: 2 (n-1) (L + ceil(M / n) / B). So its makespan may be had from a
// network in which all chunks are the longest, and which folds. Single ranks could end earlier, by less than a byte's
// time per round; all are taken to end together (folded_message_clock.hpp).
#pragma once

#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

/// Whether every link is crossed from one rank only, over all phases; of schedules without lanes (fan 1).
bool has_a_sender_per_link(const RoutedSchedule& routed);

/// O(ranks + edges + rounds).
bool is_paced_by_longest_chunk(const RoutedSchedule& routed);

}}  // namespace farandole::simulate
