// Reads a name that stands for one of several things: rows of a table, values of an enumeration.
//
// Called by readers of files; the table outlives the reading.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "config/section.hpp"

namespace farandole { inline namespace config {

/// The row that `name_of` calls so; else `where` fails with the nearest known name. `what` is "a precision", ...
template <class Rows, class NameOf = std::identity>
const auto& read_named(const Value& where, std::string_view what, const Rows& rows, NameOf name_of = {}) {
  const auto wanted = read<std::string>(where);
  std::vector<std::string> known;
  for (const auto& row : rows) {
    known.emplace_back(std::invoke(name_of, row));
    if (known.back() == wanted) return row;
  }
  where.fail_unknown(what, known);
}

}}  // namespace farandole::config
