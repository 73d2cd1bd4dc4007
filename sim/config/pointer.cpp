#include <charconv>

#include "config/document.hpp"

namespace farandole { inline namespace config {
namespace {

std::optional<std::string> key_of(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      key += token[i];
      continue;
    }
    ++i;
    if (i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    key += token[i] == '0' ? '~' : '/';
  }
  return key;
}

}  // namespace

std::string pointer_token(std::string_view key) {
  if (key.find_first_of("~/") == std::string_view::npos) return std::string(key);
  std::string token;
  for (const char c : key) token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return token;
}

std::optional<std::vector<std::string>> split_pointer(std::string_view pointer) {
  if (!pointer.starts_with('/')) return std::nullopt;
  std::vector<std::string> keys;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const auto end = pointer.find('/');
    auto key = key_of(pointer.substr(0, end));
    if (!key) return std::nullopt;
    keys.push_back(std::move(*key));
    pointer = end == std::string_view::npos ? std::string_view{} : pointer.substr(end);
  }
  return keys;
}

bool is_within(std::string_view pointer, std::string_view around) {
  return pointer.starts_with(around) && (pointer.size() == around.size() || pointer[around.size()] == '/');
}

std::optional<std::size_t> array_index(std::string_view token) {
  if (token.size() > 1 && token.front() == '0') return std::nullopt;
  std::size_t index = 0;
  const char* const last = token.data() + token.size();
  const auto [end, error] = std::from_chars(token.data(), last, index);
  if (error != std::errc{} || end != last) return std::nullopt;
  return index;
}

}}  // namespace farandole::config
