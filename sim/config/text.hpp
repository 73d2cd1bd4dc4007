// Makes text from outside fit for one line of a terminal. Used by everything that words an error message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace farandole {

/// How many bytes from the beginning belong to well-formed UTF-8 characters.
std::size_t utf8_prefix(std::string_view text);

/// Whether every byte belongs to a well-formed UTF-8 character.
bool is_utf8(std::string_view text);

/// Control characters and bytes that are not UTF-8 become escapes (`\n`, `\x1b`); past `limit` characters, "...".
std::string one_line(std::string_view text, std::size_t limit);

}  // namespace farandole
