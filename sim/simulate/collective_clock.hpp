// When every rank holds the result of a collective, given when every rank joined it.
//
// One implementation per fidelity over the same RoutedSchedule. `make_collective_clock` adds what all share: a
// collective of the same size that starts everywhere at once is timed once and remembered, and no answer may beat the
// bounds of simulate/collective_clock.hpp (InvariantError).
//
// Where it is exact, ranks that behave alike are represented by one of them (simulate/folding/fold.hpp). Exact means to
// rounding, but for the ends of single ranks where chunks differ by a byte: folded, all of them end with the last.
// Where there are too many messages to send them all, chunks that differ by a byte may be counted as the longest so
// that ranks fold. An answer's provenance says which of these was done.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collective/rank_times.hpp"
#include "simulate/fidelity.hpp"
#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

/// How an answer was found, or several of them.
struct Provenance {
  bool folded = false;  // from representatives
  /// By which share of the longest chunk others that are a byte shorter were counted too long, at most.
  double rounded_up = 0;
  bool used_builtin_solver = false;  // unasked, in SimGrid's place

  /// Of both: folded if each was, the rest if any was.
  void include(const Provenance& other);
};

struct Answer {
  RankTimes ends;
  Provenance provenance;
};

/// Moments of ranks at the places of a schedule that has them in this order, and back; empty: as they are numbered.
RankTimes in_order(const RankTimes& of_ranks, const std::vector<int>& order);
RankTimes in_ranks(const RankTimes& of_places, const std::vector<int>& order);

/// A sentence for whoever reads the answer.
std::string describe_rounding_up(double share);

enum class FoldingPolicy : std::uint8_t { where_exact, never };

/// How an answer is found; none of it changes one by more than rounding, but for what
/// `Provenance::rounded_up` says.
struct ClockOptions {
  ClockOptions(FoldingPolicy of_ranks = FoldingPolicy::where_exact,  // NOLINT: implicit, most say no more than this
               NetworkSolver solver = NetworkSolver::as_it_pays)
      : folding(of_ranks), network(solver) {}
  FoldingPolicy folding;
  NetworkSolver network;
};

class CollectiveClock {
 public:
  virtual ~CollectiveClock() = default;
  /// `size`: whole bytes, as collective/chunk_sizes.hpp counts them; `start[r]`: when rank r joins.
  virtual Answer answer(Bytes size, const RankTimes& start) = 0;
  [[nodiscard]] RankTimes completion_times(Bytes size, const RankTimes& start) { return answer(size, start).ends; }
  /// Whether when the last rank joins is all that counts, whoever that is: then ranks end as if all had joined with it.
  /// False where that is not known.
  [[nodiscard]] virtual bool is_barrier(Bytes /*size*/) { return false; }
  /// The same of one of several groups that meet at once; empty where they are not all alike, or are no groups.
  virtual std::optional<Answer> answer_of_any_group(Bytes /*size*/, const RankTimes& /*start*/) { return {}; }
  /// Whether what starting a collective costs is in its times already.
  [[nodiscard]] virtual bool has_launch() const { return false; }
  /// Gives back the network, which the next answer makes anew, so that another clock may have one.
  virtual void release_network() {}
};

std::unique_ptr<CollectiveClock> make_collective_clock(Fidelity fidelity, RoutedSchedule routed,
                                                       ClockOptions options = {});

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

}}  // namespace farandole::simulate
