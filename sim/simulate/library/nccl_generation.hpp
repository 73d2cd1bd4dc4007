// What devices of a generation take of themselves, whichever release of NCCL runs on them.
//
// Called by NCCL's cost model for the time of what was chosen; choices are by a release's own constants (nccl_tuning).
// Latencies are microseconds, rates GB/s.
#pragma once

namespace farandole { inline namespace simulate {

struct NcclGeneration {
  double nvlink;             // what one NVLink carries of a ring
  double ll_channel;         // what a channel of LL does
  double ll_base = 0;        // of a ring of LL inside a node, and
  double ll_hop = 0;         // of each of its steps
  double simple_base = 0;    // of a ring of Simple inside a node, and
  double slice_wait = 0;     // of each slice of its steps
  double message_base = 0;   // of long messages inside a node (ncclSend)
  double message_share = 1;  // of a ring's rate that they get
  double own_message = 0;    // of one, at a ring's rate: what a device sends to itself it copies, too
  double own_part = 0;       // of a step of a ring: out of place it copies its own part, too
  double nvls = 1;           // of the bus that NVLink SHARP gets
};

/// Of devices of that compute capability (80: 8.0).
const NcclGeneration& nccl_generation(int capability);

}}  // namespace farandole::simulate
