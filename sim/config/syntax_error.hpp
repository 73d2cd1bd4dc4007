// Says in human words why a text is not JSON, from what the JSON lexer reports.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace farandole {

struct SyntaxError {
  std::string expected;
  std::string got;
  bool after_value = false;  // the value before was complete: the place is its container, not the next element
};

/// `report` is the lexer's own message, `token` the last token it read, `offset` how much of `text` that took.
SyntaxError explain_syntax_error(std::string_view report, std::string_view token, std::string_view text,
                                 std::size_t offset);

}  // namespace farandole
