#include "timeline/result.hpp"

namespace farandole { inline namespace timeline {

Seconds Breakdown::total() const {
  Seconds sum;
  const auto add = [&](const char* /*name*/, Seconds part) { sum += part; };
  fields(*this, add);
  return sum;
}

std::vector<WaterfallPart> Breakdown::parts() const {
  std::vector<WaterfallPart> result;
  const auto add = [&](const char* name, Seconds part) { result.push_back({name, part}); };
  fields(*this, add);
  return result;
}

Breakdown& Breakdown::operator+=(const Breakdown& more) {
  const std::vector<WaterfallPart> added = more.parts();
  auto next = added.begin();
  const auto add = [&](const char* /*name*/, Seconds& part) { part += next++->time; };
  fields(*this, add);
  return *this;
}

Breakdown operator*(const Breakdown& parts, double factor) {
  Breakdown scaled = parts;
  const auto scale = [&](const char* /*name*/, Seconds& part) { part *= factor; };
  Breakdown::fields(scaled, scale);
  return scaled;
}

std::string TrainingPoint::compute_kind() const {
  for (const char* kind : {"estimated", "anchored"}) {
    if (compute_source.starts_with(kind)) return kind;
  }
  return compute_source.empty() ? "" : "measured";
}

}}  // namespace farandole::timeline
