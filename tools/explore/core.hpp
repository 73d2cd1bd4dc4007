// The simulator behind a page of `farandole explore`: a question as JSON text, its answer as JSON text.
//
// Called by module.cpp, which is all that JavaScript sees. A question is
//
//   { "scenario": "...", "source": "a.json", "ask": ["point", "waterfall", "timeline"], "ranks": [1, 2, 4] }
//
// where "scenario" is the text of a file without "sweep". The answer has "point" as `farandole run --format json` has
// it, "waterfall" and "timeline" as pages draw them, and "curve", a list with [ranks, efficiency, samples per second]
// of each of those ranks that the scenario takes. Without SimGrid it is the program run with --network own. Anything
// that the program would refuse gives { "error": "..." }; nothing is thrown.
#pragma once

#include <string>

#include "scenario/catalogue.hpp"

namespace farandole {

std::string answer_question(const std::string& question, const Catalogue& catalogue);

}  // namespace farandole
