#include "run_files.hpp"

#include <algorithm>
#include <iostream>

#include "config/section.hpp"
#include "report/pages.hpp"
#include "report/reports.hpp"
#include "targets.hpp"

namespace farandole {

void check_files(const RunFiles& files, const Catalogue& catalogue) {
  Targets targets;
  targets.reads("the scenario", files.scenario);
  for (const auto& [file, text] : catalogue.texts()) targets.reads("a file of the scenario", file);
  files.output.add_to(targets);
  targets.writes("--timeline", files.timeline);
  files.pages.add_to(targets);
  targets.writes("--draw", files.drawing);
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

void forget_release(Document& document, const std::vector<std::string>& settings) {
  const auto says = [](const std::string& text) {
    return text.starts_with("/strategy=") || text.starts_with("/strategy/version=");
  };
  const auto kind = document.find("/strategy/kind");
  const bool is_horovod = kind && kind->is_string() && read<std::string>(*kind) == "horovod";
  if (is_horovod && std::ranges::none_of(settings, says)) document.remove("/strategy/version");
}

}  // namespace farandole
