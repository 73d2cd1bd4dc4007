// How far a prediction of training reaches beyond what was measured.
//
// Filled by scenario/reach.hpp. The known step is the predicted one as linear scaling has it: what one device takes for
// its batch, or of an anchored scenario what the measured run with the nearest batch took, in proportion to the
// samples.
#pragma once

#include <string>

#include "timeline/bands.hpp"
#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

struct Reach {
  Seconds known;        // step
  int known_ranks = 1;  // of the largest run that it follows from
  std::string platform;
  std::string transport;  // between nodes, with the library on top: "RoCE, nccl-2.3"
  std::string program;    // strategy, with how it runs: "horovod", "parameter_server"
  std::string model;
  Interval compute{1, 1};  // factors of the predicted step between the ends of its compute times' band

  static void fields(auto& reach, auto& visit) {
    visit("known_step", reach.known);
    visit("known_ranks", reach.known_ranks);
    visit("platform", reach.platform);
    visit("transport", reach.transport);
    visit("program", reach.program);
    visit("model", reach.model);
    visit("compute", reach.compute);
  }
};

}}  // namespace farandole::timeline
