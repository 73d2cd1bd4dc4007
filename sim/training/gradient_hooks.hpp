// What a strategy does with every gradient as soon as it is there, within the backward pass: PyTorch's autograd hooks.
//
// The host runs the hook between the layers whose kernels it queues, and what the hook queues stands in line on the
// stream that computes. So gradient i, whose kernels the host has queued at a_i and the device has computed at r_i, is
// ready at the later of
//
//   r_i + sum over j <= i of (start + traffic_j / memory)     the device has done what all hooks before asked for, too
//   a_i + sum over j <= i of kernel                           the host has come that far
//
// and the device, where it has waited for its host, goes on from there. Called by scenario/parts.cpp for a job on
// several ranks; one rank by itself has no hooks.
#pragma once

#include "training/coding.hpp"
#include "training/job.hpp"

namespace farandole { inline namespace training {

struct GradientHooks {
  double passes = 2;  // over a gradient in memory: one reads, one writes; none: the hook queues nothing
};

/// What one kernel over a gradient takes the device.
Seconds kernel_over(const Coder& coder, Bytes traffic);

Job hooked(Job job, const GradientHooks& hooks, const Coder& coder);

}}  // namespace farandole::training
