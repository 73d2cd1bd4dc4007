// What one rank does in one iteration, at the nominal speed of its device: the workload seen by a strategy.
//
// Gradients stand in backward order, the order in which they become ready. A gradient is announced when the host has
// queued its kernels and ready when the device has computed them; on a GPU the host runs ahead, so that Horovod
// negotiates a tensor long before its data is there (its timeline then shows WAIT_FOR_DATA). A device that computes
// synchronously announces a gradient when it is ready.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/compute_time.hpp"

namespace farandole {

struct Gradient {
  std::string name;
  Bytes size;
  Seconds announced;  // since the start of the iteration; host time, the same on slow and fast devices
  Seconds ready;      // since the start of the iteration, at nominal speed
};

struct Job {
  std::vector<Gradient> gradients;
  Seconds backward_end;  // forward and backward together, at nominal speed
  Seconds update;

  [[nodiscard]] Seconds compute() const { return backward_end + update; }
  [[nodiscard]] Bytes gradient_bytes() const;
};

/// `host_dispatch`: what the host spends to queue one pass (forward or backward) over one layer; empty: the host does
/// not run ahead of the device.
Job make_job(const Model& model, const ComputeTimes& times, Precision gradient_precision,
             std::optional<Seconds> host_dispatch);

}  // namespace farandole
