// A search of the whole unit cube for the least value of a function, by DIRECT-L (Gablonsky and Kelley, J. Global
// Optimization 21, 2001) as NLopt has it.
//
// Called by study/search.hpp. Deterministic. Without NLopt it is not there: study/read_search.cpp refuses it.
#pragma once

#include <functional>
#include <vector>

namespace farandole {

void global_search(std::size_t dimensions, int evaluations, const std::function<double(const std::vector<double>&)>& f);

}  // namespace farandole
