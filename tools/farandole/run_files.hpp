// What `farandole run` reads and writes, looked at before a point runs; and what it writes beside its results.
#pragma once

#include <string>
#include <vector>

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

/// Throws what Targets::check does. Only what the command line names is written: HOROVOD_TIMELINE and
/// HOROVOD_AUTOTUNE_LOG of a scenario or a launch line, which may be a stranger's, are noted as without meaning here.
void check_files(const RunFiles& files, const Catalogue& catalogue);

/// Of the last point; says on stderr what was written.
void write_timeline(const RunPlan& plan, const StudyResult& result, const std::string& file, bool quiet);

/// A launch line is another job's than the file's: of the newest release of Horovod, unless somebody says of which.
void forget_release(Document& document, const std::vector<std::string>& settings);

}  // namespace farandole
