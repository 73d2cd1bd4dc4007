// The seam between what a strategy decides and the clock and network it runs on.
//
// A strategy issues work through an Executor and is called back with what happened. `simulate/` implements it with
// simulated time; a real backend implements it with MPI or NCCL and a wall clock; strategies cannot tell the
// difference.
//
// Every rank has one communication stream. Work enqueued on it runs in order: a rank starts an item when it has
// finished the one before and its own `earliest` moment has come, as kernels on a CUDA stream do.
#pragma once

#include "training/rank_times.hpp"

namespace farandole {

/// One allreduce over all ranks, with the copies into and out of the fusion buffer around it.
struct CommunicationWork {
  Bytes size;
  Seconds copy_in;
  Seconds copy_out;
  RankTimes earliest;
};

/// When each rank passed each stage of one item.
struct CommunicationTimes {
  RankTimes begin;     // the stream is free and the data is there: copying in starts
  RankTimes reducing;  // the allreduce starts
  RankTimes reduced;   // the allreduce ends
  RankTimes end;       // copied out
};

class Executor {
 public:
  virtual ~Executor() = default;

  [[nodiscard]] virtual Seconds now() const = 0;
  /// Calls Strategy::on_timer at `when` (not before now).
  virtual void wake_at(Seconds when) = 0;
  /// Appends to the communication stream; Strategy::on_communicated follows with the number returned here.
  virtual int enqueue(CommunicationWork work) = 0;
};

}  // namespace farandole
