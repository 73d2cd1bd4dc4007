// Catalogues: rows of {name, summary, builder} in one table, looked up by name.
//
// A plug-in (an algorithm, a topology, a strategy) is one .cpp file and one row. Tables are plain values written where
// the parts are composed; nothing registers itself.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/document.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace config {

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
