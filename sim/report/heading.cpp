#include "report/heading.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "platform/launch/launch.hpp"
#include "report/table.hpp"

namespace farandole { inline namespace report {
namespace {

// Sections of settings that are the same for every run of a kind: SimGrid's, a transport's rates and latencies, how a
// strategy fuses, where each rank of a measurement sat.
constexpr std::string_view of_the_machinery =
    "simgrid transport measure workload learning horovod ddp allgather local_sgd diloco single parameter_server "
    "distributed_replicated rank link cuda";
// What of these sections is asked for all the same, and what of other sections a platform brings along.
constexpr std::string_view asked_for =
    "measure.seed measure.seeds transport.name transport.library transport.mpi.name horovod.version";
constexpr std::string_view of_the_platform =
    "effects.device_spread effects.step_jitter effects.communication_compute_share effects.shared_board";

bool matters(std::string_view name) {
  if (launch::is_among(asked_for, name) || name.find("calibra") != std::string_view::npos) return true;
  return !launch::is_among(of_the_machinery, name.substr(0, name.find('.'))) &&
         !launch::is_among(of_the_platform, name);
}

}  // namespace

void write_title(std::ostream& out, const Heading& heading) {
  std::string title = fmt::format("# farandole {}", version());
  if (!heading.scenario.empty()) title += ", scenario " + printable(heading.scenario);
  out << styled(out, Style::faint, title) << '\n';
  if (!heading.answer.empty()) out << styled(out, Style::bold, "# " + printable(heading.answer)) << '\n';
  for (const auto& [point, reason] : heading.failed) {
    out << styled(out, Style::red, fmt::format("# failed: {}: {}", printable(point), printable(reason))) << '\n';
  }
}

void write_settings(std::ostream& out, const Heading& heading) {
  if (heading.settings.empty()) return;
  const auto is_listed = [&](const auto& setting) {
    return heading.lists_all_settings || (matters(setting.first) && !setting.second.empty());
  };
  const auto more = std::ranges::count_if(heading.settings, [&](const auto& s) { return !is_listed(s); });
  out << "#\n# Settings";
  if (more > 0) out << fmt::format(" ({} more: --settings)", more);
  out << '\n';
  for (const auto& setting : heading.settings) {
    if (!is_listed(setting)) continue;
    const auto line = fmt::format("#   {}: {}", printable(setting.first), printable(setting.second));
    out << styled(out, Style::faint, line) << '\n';
  }
}

}}  // namespace farandole::report
