// "question": what a study was made to answer.
//
//   "question": {
//     "ask": "What would 100 Gbit/s change?",
//     "from": { "/platform/override/~1node~1nic~1rate": "25 Gbit/s" },
//     "to": { "/platform/override/~1node~1nic~1rate": "100 Gbit/s" }
//   }
//
// Pages answer it in their first line; nothing that is simulated depends on it.
#pragma once

#include <optional>
#include <vector>

#include "config/document.hpp"
#include "scenario/sweep.hpp"
#include "timeline/question.hpp"

namespace farandole {

/// None where the document asks nothing. InputError where "from" and "to" name different pointers, or values that no
/// configuration of the sweep has.
std::optional<Question> read_question(const Document& document, const std::vector<Configuration>& configurations);

}  // namespace farandole
