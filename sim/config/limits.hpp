// Integers of an input between two bounds, and counts that come out of several of them.
//
// Called by readers wherever a number that is far too large would be believed, and fill the memory or run for ever. A
// bound is no judgement of what is sensible: it lies far above anything that is built or trained, and low enough that
// what follows from it can still be held. The message says the bound and the number.
#pragma once

#include <cstddef>
#include <string_view>

#include "config/document.hpp"
#include "units/count.hpp"

namespace farandole { inline namespace config {

/// Objects and arrays in one another.
inline constexpr std::size_t most_levels = 64;

/// "expected an integer from 1 to 1,000,000, got 2147483647".
int read_between(const Value& value, int least, int most);

/// Fails at `where` with "expected at most 4,194,304 ranks, got 9,000,000" where there are more than `most`. `what` is
/// the plural.
void require_at_most(Count count, Count most, std::string_view what, const Value& where);

/// 1234567 is "1,234,567"; what no number holds is "more than 9 x 10^18".
std::string counted(Count count);

}}  // namespace farandole::config
