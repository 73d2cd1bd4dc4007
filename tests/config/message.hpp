// What tests of config share: the message of an InputError, and documents with a short name.
#pragma once

#include <string>
#include <string_view>

#include "config/document.hpp"

namespace farandole {

/// The message `action` is refused with; "(no error)" where it is not.
template <class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(no error)";
}

inline Document sample(std::string_view text) {
  return Document::parse(text, "s.json");
}

inline std::string message_of_parsing(std::string_view text) {
  return message_of([&] { sample(text); });
}

}  // namespace farandole
