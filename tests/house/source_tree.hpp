// The source tree as the tests of the house read it: files by folder and kind, their lines, and code without its
// comments and literals. Paths are relative to the top of the repository. Build output and results are no part of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace house {

using Path = std::filesystem::path;

/// One line of a file that breaks a rule: printed as "sim/units/parse.cpp:12: std::exit(1);".
using Violations = std::vector<std::string>;

/// Every regular file under the folder, in order of name; all of them, or those with one of these extensions.
std::vector<Path> files_under(const Path& folder, const std::vector<std::string>& extensions = {});

/// The C++ files under sim/, tools/ and tests/, or under one of them.
std::vector<Path> cpp_files();
std::vector<Path> cpp_files(const Path& folder);

/// Throws std::runtime_error if the file cannot be read.
std::string text_of(const Path& file);
std::vector<std::string> lines_of(const Path& file);

/// The file's lines with comments, and the insides of string and character literals, blanked; as many as it has.
std::vector<std::string> code_lines_of(const Path& file);

bool is_there(const Path& file);

/// "FILE:LINE: TEXT", the line counted from `index` 0.
std::string violation(const Path& file, std::size_t index, const std::string& text);

}  // namespace house
