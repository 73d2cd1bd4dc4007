// What the builders of problems read of their sections: counts and seeds, within bounds that keep a run affordable.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/section.hpp"

namespace farandole { inline namespace learning {

/// From 1 to ten million.
int read_count(Section& section, std::string_view key, int fallback);

/// What NumPy's `seed` takes and a JSON integer of ours holds: from 0 to 2^31 - 1.
std::uint32_t read_seed(Section& section, std::uint32_t fallback);

/// Fails at `where` where a matrix of so many rows and columns is more than half a gigabyte.
void require_matrix(int rows, std::size_t columns, const Value& where);

}}  // namespace farandole::learning
