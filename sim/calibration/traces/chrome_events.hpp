// The events of a Chrome trace, which is what Horovod's timeline and PyTorch's profiler write.
//
// Used by the readers of this folder. A trace is an array of events or an object with "traceEvents"; Horovod's older
// versions leave the array open, which is read all the same. Times are microseconds in the file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/error.hpp"
#include "units/quantity.hpp"

namespace farandole {

struct ChromeEvent {
  Place place;
  char phase = '?';  // B, E, X, i, M
  std::string name;  // empty: an event that ends another has none
  std::string category;
  std::string process;  // as written: a number or a text
  std::string thread;
  Seconds start;
  Seconds duration;       // of X
  std::string described;  // args.name of what names a process
  std::string shape;      // args.shape: "[64, 3, 7, 7]"
  std::optional<double> external_id;

  [[nodiscard]] Seconds end() const { return start + duration; }
};

/// In the order of the file. InputError where the text is no such trace, with the place.
std::vector<ChromeEvent> read_chrome_events(std::string_view text, const std::string& file);

}  // namespace farandole
