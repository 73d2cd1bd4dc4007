// The events of a trace, ordered and placed on rows, before they are written. Internal to chrome_trace.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "timeline/timeline.hpp"

namespace farandole {

/// Whole nanoseconds: the ends of nested spans still nest after rounding, which differences of doubles would break.
struct TraceEvent {
  std::string lane;
  std::string activity;
  std::int64_t start_ns = 0;
  std::optional<std::int64_t> duration_ns;  // none: an instant
  int process = 0;
  int thread = 0;
};

/// All events by start time, longer ones first, with process and thread set. Equal ones keep the order of recording.
std::vector<TraceEvent> trace_events(const Timeline& timeline);

/// Lane names by process number; 0 is the whole process, and there whether or not it has events.
std::map<int, std::string> process_names(const std::vector<TraceEvent>& events);

}  // namespace farandole
