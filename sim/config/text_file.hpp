// A whole file as text: the one way in for every form of input, JSON, XML, Graphviz, logs and traces alike.
//
// Regular files, pipes and terminals are read. Anything else, and what is no text in UTF-8, is an InputError with the
// file's name and, where there is one, the line.
#pragma once

#include <filesystem>
#include <string>

namespace farandole {

/// The file's bytes without a byte order mark. InputError where it cannot be read, is a directory or a device, has more
/// than 64 MiB, is silent for 15 seconds (a pipe that nobody writes), or is not UTF-8 (a zero byte is not, here).
std::string read_text(const std::filesystem::path& file);

}  // namespace farandole
