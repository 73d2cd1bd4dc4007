// The points of `farandole run` as a page.
//
// Called by the command line for `--html` and `--markdown`. Sections without content are left out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/heading.hpp"
#include "report/page.hpp"
#include "timeline/result.hpp"
#include "timeline/timeline.hpp"
#include "timeline/validation.hpp"

namespace farandole { inline namespace report {

/// Published runs beside their predictions, on this platform or, where there are none, on all.
struct ValidationContext {
  bool of_this_platform = false;
  std::vector<ValidationPoint> points;
};

struct TrainingPageInput {
  Heading heading;
  std::string summary;                // the scenario's own words
  std::string command;                // as it was typed
  std::string scenario;               // its JSON, with what the command line set
  std::vector<TrainingPoint> points;  // the headline points with explanations
  std::optional<Question> question;
  std::vector<PublishedMark> published;
  ValidationContext trust;
  const Timeline* timeline = nullptr;  // of one rank; or null
  std::size_t timeline_point = 0;
  std::vector<LinkUse> busiest_links;  // of that point
  std::string topology_svg;            // with the loads of that point; or empty
};

/// std::logic_error where a point holds a number that is not finite.
Page training_page(const TrainingPageInput& story);

}}  // namespace farandole::report
