// JSON pointers (RFC 6901): "/links/0/rate", with "~1" for a slash and "~0" for a tilde inside a key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farandole { inline namespace config {

/// One key as it stands in a pointer.
std::string pointer_token(std::string_view key);

/// The keys a pointer names; nothing where it does not start with "/" or has a "~" that is no escape.
std::optional<std::vector<std::string>> split_pointer(std::string_view pointer);

/// Whether it names what the other does, or a part of that.
bool is_within(std::string_view pointer, std::string_view around);

/// An array index: digits without sign or leading zero.
std::optional<std::size_t> array_index(std::string_view token);

}}  // namespace farandole::config
