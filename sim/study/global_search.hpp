// A search of the whole unit cube for the least value of a function, by DIRECT-L (Gablonsky and Kelley, J. Global
// Optimization 21, 2001) as NLopt has it.
//
// Called by study/search.hpp. Deterministic. NLopt is a module (backend/modules.hpp); where it is missing,
// study/read_search.cpp refuses the method.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace farandole {

/// Empty where NLopt is here.
std::string why_no_global_search();

void global_search(std::size_t dimensions, int evaluations, const std::function<double(const std::vector<double>&)>& f);

}  // namespace farandole
