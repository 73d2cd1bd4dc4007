// What the simulator says of a measurement, on a topology whose numbers are still being tried.
//
// Used by the fit, which asks again for every trial, and by validation. Few ranks are timed message by message, many as
// flows. A ping-pong is a broadcast between two nodes; an exchange is an alltoall of two ranks with twice the bytes.
// What a library carried out is timed as that library (simulate/library), in closed form where it knows several ways.
// A measurement that says how many nodes it used is laid out on so many, the same number of ranks on each.
#pragma once

#include <span>
#include <vector>

#include "calibration/measured_time.hpp"
#include "platform/topology.hpp"
#include "simulate/collective_clock.hpp"

namespace farandole { inline namespace calibration {

/// One time per measurement, in order. InputError at a measurement's place where the topology cannot hold it or the
/// algorithm is unknown. Our own solver takes a fifth as long as SimGrid, and differs where messages meet at one
/// moment.
std::vector<Seconds> predict(const Topology& topology, std::span<const MeasuredTime> measurements,
                             NetworkSolver solver = NetworkSolver::as_it_pays);

}}  // namespace farandole::calibration
