// Writes a result to a file, whole or not at all, or to standard output.
//
// Called by the command line for `--output`, `--timeline` and every other file it writes. The text goes to a temporary
// file in the same folder, which takes the name of the target only once everything is written; if writing fails, or
// `write` throws, the temporary file is removed and an older target stays as it was. A link is followed. A target that
// is no regular file (/dev/null, a named pipe) is written directly.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>

namespace farandole {

using Writer = std::function<void(std::ostream&)>;

/// Throws InputError "cannot write FILE: REASON".
void write_file(const std::filesystem::path& file, const Writer& write);

/// To the file, or to `standard_output` where there is none; there a failure is "cannot write standard output: ...".
void write_output(const std::optional<std::filesystem::path>& file, std::ostream& standard_output, const Writer& write);

}  // namespace farandole
