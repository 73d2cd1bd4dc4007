// Makes text from outside fit for one line of a terminal. Used by everything that words an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace farandole {

/// Whether every byte belongs to a well-formed UTF-8 character.
bool is_utf8(std::string_view text);

/// Control characters and bytes that are not UTF-8 become escapes (`\n`, `\x1b`); past `limit` characters, "...".
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace farandole
