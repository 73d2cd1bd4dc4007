// Makes text from outside fit for one line of a terminal. Used by everything that words an error message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "config/document.hpp"

namespace farandole { inline namespace config {

/// How many bytes from the beginning belong to well-formed UTF-8 characters.
std::size_t utf8_prefix(std::string_view text);

/// Whether every byte belongs to a well-formed UTF-8 character.
bool is_utf8(std::string_view text);

/// Control characters and bytes that are not UTF-8 become escapes (`\n`, `\x1b`); past `limit` characters, "...".
std::string one_line(std::string_view text, std::size_t limit);

// A whole file as text: the one way in for every form of input, JSON, XML, Graphviz, logs and traces alike.
//
// Regular files, pipes and terminals are read. Anything else, and what is no text in UTF-8, is an InputError with the
// file's name and, where there is one, the line.

/// The file's bytes without a byte order mark. InputError where it cannot be read, is a directory or a device, has more
/// than 64 MiB, is silent for 15 seconds (a pipe that nobody writes), or is not UTF-8 (a zero byte is not, here).
std::string read_text(const std::filesystem::path& file);

/// Who opens a file that another one names: the catalogue, which remembers what it read (scenario/catalogue.hpp), and
/// read_text where nobody keeps account.
using TextReader = std::function<std::string(const std::filesystem::path& file)>;

// Reads the YAML that people write configurations in, as a tree like that of a JSON document.
//
// Mappings and sequences by indentation, scalars plain or quoted, comments, empty {} and [], sequences of scalars in
// brackets. true, false, yes, no, on, off (in any case), null, ~ and nothing at all, integers and numbers are what YAML
// 1.1 makes of them; all else is text. Everything else that YAML has (anchors, tags, blocks of text, mappings in
// braces, several documents, tabs that indent) is refused with its line, as are keys that come twice.

/// `source`: the file's name, for messages.
Node parse_yaml(std::string_view text, const std::string& source);

}}  // namespace farandole::config
