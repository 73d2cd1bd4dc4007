// The members of an object whose keys the user chooses: pointers of a sweep, patterns of links, names of variants.
//
// Called where a Section (config/section.hpp), which knows its keys, does not fit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/document.hpp"

namespace farandole { inline namespace config {

/// All but "comment", which must be a string, here as everywhere. Fails where `where` is no object.
std::vector<std::pair<std::string, Value>> listed_members(const Value& where);

}}  // namespace farandole::config
