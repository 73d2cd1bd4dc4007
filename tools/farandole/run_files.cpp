#include "run_files.hpp"

#include <fstream>
#include <iostream>

#include "report/chrome_trace.hpp"
#include "report/reports.hpp"
#include "targets.hpp"

namespace farandole {
namespace {

bool is_our_trace(const std::filesystem::path& file) {
  std::string begin(200, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return is_chrome_trace(begin);
}

/// Horovod's own log looks the same.
bool is_never_ours(const std::filesystem::path& /*file*/) {
  return false;
}

}  // namespace

void check_files(const RunFiles& files, const Catalogue& catalogue, const RunPlan* plan) {
  Targets targets;
  targets.reads("the scenario", files.scenario);
  for (const auto& [file, text] : catalogue.texts()) targets.reads("a file of the scenario", file);
  files.output.add_to(targets);
  targets.writes("--timeline", files.timeline);
  files.pages.add_to(targets);
  targets.writes("--draw", files.drawing);
  if (plan != nullptr && plan->timeline_file && files.timeline.empty()) {
    require_free("HOROVOD_TIMELINE", *plan->timeline_file, is_our_trace, "; --timeline FILE writes it elsewhere");
    targets.writes("HOROVOD_TIMELINE", *plan->timeline_file);
  }
  if (plan != nullptr && plan->tuning_log) {
    require_free("HOROVOD_AUTOTUNE_LOG", *plan->tuning_log, is_never_ours, "; name another, or move it away");
    targets.writes("HOROVOD_AUTOTUNE_LOG", *plan->tuning_log);
  }
  targets.check();
}

void write_timeline(const RunPlan& plan, const StudyResult& result, const std::string& file, bool quiet) {
  write_file(file, [&](std::ostream& out) {
    write_chrome_trace(out, *result.timeline, {plan.scenario, plan.settings});
  });
  if (quiet) return;
  const TrainingPoint& last = result.points.rbegin()->second;
  std::cerr << "timeline of rank 0: " << file << " (" << last.model << ", " << last.ranks << " ranks, " << last.fidelity
            << "; " << result.timeline->spans().size() << " spans, " << result.timeline->dropped()
            << " events beyond the cap left out)\n";
}

void write_tuning_log(const StudyResult& result, const std::string& file, bool quiet) {
  const TrainingPoint& last = result.points.rbegin()->second;
  if (!last.tuning) return;
  write_file(file, [&](std::ostream& out) { write_tuning_log(out, *last.tuning); });
  if (!quiet) std::cerr << "autotuner's log: " << file << " (" << last.model << ", " << last.ranks << " ranks)\n";
}

}  // namespace farandole
