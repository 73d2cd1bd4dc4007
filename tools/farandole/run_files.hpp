// What `farandole run` reads and writes, looked at before a point runs.
#pragma once

#include <string>

#include "output_options.hpp"
#include "page_options.hpp"
#include "scenario/run.hpp"

namespace farandole {

struct RunFiles {
  const std::string& scenario;
  const std::string& timeline;
  const std::string& drawing;
  const OutputOptions& output;
  const PageOptions& pages;
};

/// Throws what Targets::check does; and InputError where a variable of the job, HOROVOD_TIMELINE or
/// HOROVOD_AUTOTUNE_LOG in the scenario's settings or a launch line, names a file that the real job may have written.
/// `plan` is null for a search, which writes neither.
void check_files(const RunFiles& files, const Catalogue& catalogue, const RunPlan* plan);

}  // namespace farandole
