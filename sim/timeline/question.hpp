// The question a study was made for: what changes if these values become those?
//
// Read by scenario/, answered by report/ in the first line of a page or table, and in JSON.
#pragma once

#include <string>
#include <vector>

#include "timeline/result.hpp"

namespace farandole { inline namespace timeline {

struct Question {
  std::string ask;               // in its author's words
  std::vector<SweptValue> from;  // each a value on an axis of the sweep
  std::vector<SweptValue> to;

  static void fields(auto& question, auto& visit) {
    visit("ask", question.ask);
    visit("from", question.from);
    visit("to", question.to);
  }
};

}}  // namespace farandole::timeline
