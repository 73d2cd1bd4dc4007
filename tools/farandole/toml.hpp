// Reads the TOML that job configurations are written in, as a tree like that of a JSON document.
//
// Tables, also of tables, and keys with texts of one line, numbers, true, false and arrays of these, with comments.
// What else TOML has (dates, texts of several lines, tables in braces and in arrays, keys with dots) is refused, as is
// what comes twice. InputError with the line. Called by pasted_job.cpp.
#pragma once

#include <string>
#include <string_view>

#include "config/document.hpp"

namespace farandole {

/// By its first line, where that is no comment: the name of a table, or a key and "=" where YAML would have ":".
bool is_toml(std::string_view text);

/// `source`: the file's name, for messages.
Node parse_toml(std::string_view text, const std::string& source);

}  // namespace farandole
