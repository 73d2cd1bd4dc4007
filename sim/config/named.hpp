// Reads a name that stands for one of several things: rows of a table, values of an enumeration.
//
// Called by readers of files; the table outlives the reading.
#pragma once

#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

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

/// Where that name stands among them.
template <class Names>
std::size_t read_place(const Value& where, std::string_view what, const Names& names) {
  return static_cast<std::size_t>(&read_named(where, what, names) - std::data(names));
}

/// What that name stands for.
template <class Kind>
Kind read_choice(const Value& where, std::string_view what, const std::map<std::string, Kind>& rows) {
  return read_named(where, what, rows, [](const auto& row) { return row.first; }).second;
}

// Catalogues: rows of {name, summary, builder} in one table, looked up by name.
//
// A plug-in (an algorithm, a topology, a strategy) is one .cpp file and one row. Tables are plain values written where
// the parts are composed; nothing registers itself.

template <class Builder>
struct Entry {
  std::string name;
  std::string summary;
  Builder builder;
};

template <class Builder>
std::vector<std::string> names(std::span<const Entry<Builder>> table) {
  return mapped(table, &Entry<Builder>::name);
}

/// The row named `name`; otherwise `where` fails with the nearest known name. `what` is "a topology kind", ...
template <class Builder>
const Entry<Builder>& find(std::span<const Entry<Builder>> table, const std::string& name, std::string_view what,
                           const Value& where) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry;
  }
  where.fail_unknown(what, names(table));
}

}}  // namespace farandole::config
