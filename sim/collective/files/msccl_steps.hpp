// The steps of an MSCCL algorithm, read from its XML and checked one by one.
//
// Only parse_msccl (files/msccl.cpp) uses it. Offsets into the input and output buffers are turned into the chunk
// numbers of collective/specification.hpp: a rank's own block stands at offset 0 of its input in an allgather, and of
// its output in a reduce_scatter.
#pragma once

#include <vector>

#include "collective/files/xml.hpp"
#include "collective/schedule.hpp"

namespace farandole { inline namespace collective {

struct MscclStep {
  int gpu = 0;
  int block = 0;  // the thread block, numbered over all GPUs
  int peer_sent_to = -1;
  int peer_received_from = -1;
  int channel = 0;
  bool receives = false;
  bool sends = false;
  Action action = Action::copy;  // of what it receives
  Chunk chunk = 0;
  int count = 1;
  int previous = -1;  // the step before in the thread block, or -1; an index like all that follow
  int depends_on = -1;
  Place place;
};

struct MscclAlgorithm {
  Schedule schedule;  // without phases
  std::vector<MscclStep> steps;
};

MscclAlgorithm read_msccl_steps(const XmlElement& root);

}}  // namespace farandole::collective
