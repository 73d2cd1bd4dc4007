// Splits a pasted command into words as a shell would: quotes, backslashes, continued lines, comments.
//
// Two things a shell would not forgive are: blanks between a backslash and the end of its line (they come with copying
// from web pages) and a line break without a backslash (a blank here). Variables and wildcards stay as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/document.hpp"

namespace farandole::launch {

/// Fails at `where` when a quote is left open.
std::vector<std::string> split_words(std::string_view text, const Value& where);

}  // namespace farandole::launch
