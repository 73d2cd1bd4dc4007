// What the points of a search say: the best of them, how flat it lies, and the answer in a sentence.
//
// Called by study/search.hpp.
#pragma once

#include "study/search.hpp"

namespace farandole {

/// Fills `optimum` and `answer` of a result that has points.
void judge(const SearchSpec& spec, SearchResult& result);

}  // namespace farandole
