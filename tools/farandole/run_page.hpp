// What the page of a run shows beyond its points: why, one iteration, the network, published runs.
#pragma once

#include <map>
#include <string>

#include "report/page.hpp"
#include "scenario/run.hpp"

namespace farandole {

struct RunPageRequest {
  const Document& document;
  const Catalogue& catalogue;
  const RunPlan& plan;
  const std::map<std::size_t, TrainingPoint>& points;  // by place in the plan
  std::string command;
  std::string explore;   // the command that makes it a page to explore; empty where there is none
  std::string explored;  // that page, where it lies beside this one
  int processes = 1;
  bool quiet = false;
};

/// Runs the headline points once more, with their explanation, and the last of them with its timeline.
Page run_page(const RunPageRequest& request);

}  // namespace farandole
