// The axes of a sweep, as its object in a scenario file lists them.
//
// Called by scenario/sweep.hpp alone. What is malformed (no pointer, no value, a zip of unequal lengths, a range that
// never ends) is an InputError at its place; whether a pointer leads anywhere is not known here.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "timeline/result.hpp"

namespace farandole {

inline constexpr std::size_t most_configurations = 100'000;

/// One value put at one place. `where` is blamed for a pointer that leads nowhere.
struct Assignment {
  std::string pointer;
  Node value;
  Value where;
};

/// One step along an axis: what it replaces, its name in messages, and what results say of it.
struct Setting {
  std::string name;
  std::vector<Assignment> assignments;
  std::vector<SweptValue> swept;
};

using Axis = std::vector<Setting>;

/// A value as results say it: a string as it is, anything else as JSON.
std::string swept_text(const Node& value);

/// In the order of the file; every axis has at least one setting. `sweep` must outlive them.
std::vector<Axis> read_axes(const Value& sweep);

}  // namespace farandole
