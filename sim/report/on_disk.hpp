// What is asked of open files and of their names, so that results are there after a loss of power and nobody takes
// another's file for his own.
//
// Called by report/output_file.hpp and study/journal.hpp.
#pragma once

#include <filesystem>

namespace farandole { inline namespace report {

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
