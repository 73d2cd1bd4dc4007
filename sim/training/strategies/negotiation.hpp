// What it costs Horovod's ranks to agree on what is reduced next: messages of a control plane, and rank 0's work.
//
// n ranks, k requests of each that rank 0 has to see; latency L of a small message, and what rank 0 spends on a request
// (reading, counting, comparing), on receiving a message and on sending one. d = ceil(log2 n).
//
//   point_to_point  before 0.13.3: a message for every request of every rank and an empty one behind them; then one to
//                   every rank for each response, before rank 0 carries it out itself, and one to say that it was the
//                   last (horovod/common/operations.cc at 0.13.2)
//                      L + (n - 1) (k + 1) received + n k request,  then  (n - 1) sent + L  for each response and the
//                      end
//   gathered        from then on (pull request 276), by MPI: a gather of lengths (binomial), a gather of lists, which
//                   Open MPI has the root receive one by one (coll_basic_gatherv.c), and two broadcasts
//                      (3 d + 1) L + (n - 1) received + n k request
//   gloo_allgather  by Gloo (HOROVOD_CONTROLLER), 0.18.0 to 0.25: two allgathers around a ring, two broadcasts
//                      (2 (n - 1) + 2 d) L + n k request
//   gloo_gather     from 0.26.0 (pull request 3633): two gathers in which the root receives one by one
//                      (2 + 2 d) L + 2 (n - 1) received + n k request
//
// With a response cache ranks first agree on a bit vector of what they have announced and know: an allreduce, 2 d L by
// MPI and 2 (n - 1) L around Gloo's ring. What is not in the cache, and everything where there is none, is negotiated
// as above. Called by the strategy "horovod".
#pragma once

#include <cstdint>

#include "training/strategies/catalogue.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace training {

enum class Negotiation : std::uint8_t { point_to_point, gathered, gloo_allgather, gloo_gather };

[[nodiscard]] constexpr bool is_by_gloo(Negotiation way) {
  return way == Negotiation::gloo_allgather || way == Negotiation::gloo_gather;
}

/// What negotiation costs on a platform.
struct ControlPlane {
  Seconds latency;     // one small message between nodes
  Seconds request;     // rank 0's work for one tensor of one rank
  Seconds received{};  // by rank 0, one message
  Seconds sent{};      // by rank 0, one message
};

struct Negotiated {
  int ranks;
  int uncached;  // requests of each rank that rank 0 has to see
  bool has_cache = false;
};

/// Until the first response, or the news that there is none, is with the last rank; point to point without those.
Seconds negotiation_time(Negotiation way, const ControlPlane& control, const Negotiated& what);

/// Until the last rank has been told of one response; nothing where all responses come together.
Seconds telling_time(Negotiation way, const ControlPlane& control, int ranks);

// What Horovod's rank 0 spends on requests and messages while it negotiates, as measured.
//
// tests/bench/coordinator_bench.cpp rebuilds the loop; its rows are in tests/training/coordinator_costs.json, whose
// medians these are, with the least and the most of them. Two processes on one machine: through shared memory, as
// a network that is spoken to past the kernel, and over TCP. Called by the strategy "horovod".

struct CoordinatorCost {
  const char* setting;
  const char* what;
  Seconds least;
  Seconds used;
  Seconds most;

  [[nodiscard]] UncertainSetting as_setting() const;
};

/// Reading a request of one rank, counting it, and comparing it with the others'.
const CoordinatorCost& coordinator_request();

/// Beside that, for each message.
struct CoordinatorCosts {
  CoordinatorCost received;
  CoordinatorCost sent;
};
const CoordinatorCosts& coordinator_past_the_kernel();
const CoordinatorCosts& coordinator_over_tcp();

}}  // namespace farandole::training
