// Reads the YAML that people write configurations in, as a tree like that of a JSON document.
//
// Mappings and sequences by indentation, scalars plain or quoted, comments, empty {} and [], sequences of scalars in
// brackets. true, false, yes, no, on, off (in any case), null, ~ and nothing at all, integers and numbers are what YAML
// 1.1 makes of them; all else is text. Everything else that YAML has (anchors, tags, blocks of text, mappings in
// braces, several documents, tabs that indent) is refused with its line, as are keys that come twice.
#pragma once

#include <string>
#include <string_view>

#include "config/document.hpp"

namespace farandole {

/// `source`: the file's name, for messages.
Node parse_yaml(std::string_view text, const std::string& source);

}  // namespace farandole
