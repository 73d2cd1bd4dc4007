// The seam between what a strategy decides and the clock and network it runs on.
//
// A strategy issues work through an Executor and is called back with what happened. `simulate/` implements it with
// simulated time; a real backend implements it with MPI or NCCL and a wall clock; strategies cannot tell the
// difference.
//
// Every rank has a communication stream. Work runs in order: a rank starts an item when it has finished the one before
// and its own `earliest` moment has come, as kernels on a CUDA stream do. Where there are more streams (threads of
// Gloo) whichever is free takes the next item, and collectives under way at the same time share the network.
#pragma once

#include "collective/operation.hpp"
#include "training/rank_times.hpp"

namespace farandole {

/// One collective over all ranks, with what the device does before and after it on that stream: copies into and out
/// of a buffer, encoding and decoding. Which algorithm carries it out is the executor's affair.
struct CommunicationWork {
  Bytes size;  // as the operation counts it (collective/chunk_sizes.hpp)
  Seconds copy_in;
  Seconds copy_out;
  RankTimes earliest;
  Operation operation = Operation::allreduce;
  bool hierarchical = false;  // by the hierarchical algorithm, whatever the scenario says: a tuner is trying it
};

/// When each rank passed each stage of one item.
struct CommunicationTimes {
  RankTimes begin;     // the stream is free and the data is there: copying in starts
  RankTimes reducing;  // the collective starts
  RankTimes reduced;   // the collective ends
  RankTimes end;       // copied out
};

class Executor {
 public:
  virtual ~Executor() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  /// Calls Strategy::on_timer at `when` (not before now).
  virtual void wake_at(Seconds when) = 0;
  /// Lets each rank start its forward pass at that moment, once per iteration: its gradients follow from it.
  virtual void compute_from(RankTimes moments) = 0;
  /// Appends to the communication; Strategy::on_communicated follows with the number returned here.
  virtual int enqueue(CommunicationWork work) = 0;
};

}  // namespace farandole
