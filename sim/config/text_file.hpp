// A whole file as text, for readers of all forms of input.
#pragma once

#include <filesystem>
#include <string>

namespace farandole {

/// The file's bytes; InputError where it cannot be read, is a directory or has more than 64 MiB. Pipes are welcome.
std::string read_text(const std::filesystem::path& file);

}  // namespace farandole
