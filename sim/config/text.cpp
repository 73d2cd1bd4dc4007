#include "config/text.hpp"

#include <fmt/format.h>

namespace farandole { inline namespace config {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// How many bytes the character led by `lead` has; 0 where no character starts so.
std::size_t length_announced_by(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// Overlong forms, surrogates and code points past U+10FFFF differ from good ones in their second byte only.
bool second_byte_fits(unsigned lead, unsigned second) {
  switch (lead) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

/// The length of the UTF-8 character that starts at `start`; 0 where there is none.
std::size_t character_length(std::string_view text, std::size_t start) {
  const std::size_t length = length_announced_by(byte_at(text, start));
  if (length == 0 || text.size() - start < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, start + i) & 0xC0U) != 0x80U) return 0;
  }
  return length < 2 || second_byte_fits(byte_at(text, start), byte_at(text, start + 1)) ? length : 0;
}

std::string escape(unsigned byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\x{:02x}", byte);
  }
}

/// Terminals obey the C1 control characters (U+0080 to U+009F) as they do the old ones.
bool is_control(std::string_view character) {
  const unsigned lead = byte_at(character, 0);
  return lead < 0x20 || lead == 0x7F || (lead == 0xC2 && byte_at(character, 1) < 0xA0);
}

}  // namespace

std::size_t utf8_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = byte_at(text, i) < 0x80 ? 1 : character_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return i;
}

bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string result;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++characters) {
    if (characters == limit) return result + "...";
    const std::size_t length = character_length(text, i);
    const auto character = text.substr(i, length == 0 ? 1 : length);
    if (length == 0 || is_control(character)) {
      for (std::size_t k = 0; k < character.size(); ++k) result += escape(byte_at(character, k));
    } else {
      result += character;
    }
    i += character.size();
  }
  return result;
}

}}  // namespace farandole::config
