// What `farandole run` reads and writes, looked at before a point runs; and what it writes beside its results.
#pragma once

#include <string>

#include "output_options.hpp"
#include "page_options.hpp"
#include "scenario/run.hpp"
#include "study/study.hpp"

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

/// Of the last point; says on stderr what was written.
void write_timeline(const RunPlan& plan, const StudyResult& result, const std::string& file, bool quiet);
/// Of the last point, if it tuned itself: one rank alone does not.
void write_tuning_log(const StudyResult& result, const std::string& file, bool quiet);

}  // namespace farandole
