// What fuzz targets share: bytes as readers meet them, and the law that all readers obey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/error.hpp"
#include "config/text.hpp"

namespace farandole::fuzz {

inline void require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", law);
  std::abort();
}

/// The bytes as read_text would give them: what is no UTF-8 becomes '?', a zero a blank, so that no execution is lost.
inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  std::string text(data, data + size);
  for (char& letter : text) {
    if (letter == '\0') letter = ' ';
  }
  for (std::size_t at = 0; (at += utf8_prefix(std::string_view(text).substr(at))) < text.size();) text[at] = '?';
  return text;
}

/// Input is used, or refused in one line; any other exception ends the program.
template <class Use>
void use_or_refuse(Use use) {
  try {
    use();
  } catch (const InputError& error) {
    const std::string_view message = error.what();
    require(!message.empty() && is_utf8(message), "a refusal is text");
    require(message.find_first_of("\n\r") == std::string_view::npos, "a refusal is one line");
  }
}

}  // namespace farandole::fuzz
