// Writes a result to a file, whole or not at all, or to standard output.
//
// Called by the command line for `--output`, `--timeline` and every other file it writes. The text goes to a temporary
// file in the same folder, which is on the disk (fsync) before it takes the name of the target; if writing fails, or
// `write` throws, the temporary file is removed and an older target stays as it was. Those that killed programs left in
// the folder are removed first (TemporaryFile, output_file.cpp). A link is followed. A target that is no regular file
// (/dev/null, a named pipe) is written directly.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>

namespace farandole { inline namespace report {

using Writer = std::function<void(std::ostream&)>;

/// Nothing is wrong with the input, but its result cannot be kept: "cannot write FILE: No space left on device".
class OutputError : public std::runtime_error {
 public:
  /// `error` is an errno; 0 where the library kept none.
  OutputError(const std::string& target, int error);
  [[nodiscard]] int error() const { return error_; }

 private:
  int error_;
};

/// Throws OutputError.
void write_file(const std::filesystem::path& file, const Writer& write);

/// To the file, or to `standard_output` where there is none; there a failure is "cannot write standard output: ...".
void write_output(const std::optional<std::filesystem::path>& file, std::ostream& standard_output, const Writer& write);

/// Throws where write_file would: InputError where the name is of no use (a folder, one in a folder that is not there
/// or may not be written), OutputError where the machine fails (a full disk, one that cannot be read). Nothing is left
/// behind, and what is there stays.
void try_file(const std::filesystem::path& file);

// What is asked of open files and of their names, so that results are there after a loss of power and nobody takes
// another's file for his own.
//
// Called here and by study/journal.hpp.

/// Waits until an open file or folder is on the disk; the errno where that fails. Some file systems have nothing to
/// wait for, and some not for a folder: 0.
int sync_error(int descriptor);

/// "." where the path names none.
std::filesystem::path folder_of(const std::filesystem::path& file);

/// Waits until the names in a file's folder are on the disk, where a file was made, renamed or removed. Throws
/// OutputError where that fails, though the file is there.
void sync_folder_of(const std::filesystem::path& file);

/// Whether the name is still that of the open file.
bool is_name_of(const std::filesystem::path& name, int descriptor);

}}  // namespace farandole::report
