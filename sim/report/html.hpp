// Text for HTML.
//
// Used by everything in this room that writes HTML or SVG.
#pragma once

#include <string>
#include <string_view>

#include "report/record.hpp"

namespace farandole {

/// Text between tags or in a quoted attribute.
std::string escaped(std::string_view text);

/// `record` for a script element: JSON without "<", so that no text in it can end the element.
std::string script_json(const Record& record);

}  // namespace farandole
