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

/// A script that a Content-Security-Policy allows, by the SHA-256 of its text in 64 hexadecimal digits:
/// "'sha256-" and base64.
std::string script_source(std::string_view digest);

}  // namespace farandole
