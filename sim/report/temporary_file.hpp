// A file beside the one that is to be written, which takes its name once it is whole and on the disk.
//
// Called by report/output_file.hpp. It is removed when it goes out of scope, unless it was renamed. A program that is
// killed leaves it; the next one on this machine that writes in that folder takes it away. While a program writes, it
// holds a lock on the file, which ends with it, so that nobody removes what another still writes. Its name has that of
// the machine: file systems that are shared may keep locks to each machine. Throws OutputError.
#pragma once

#include <filesystem>
#include <string>

namespace farandole { inline namespace report {

class TemporaryFile {
 public:
  /// New and empty, in the folder of `neighbour`. `target` is what errors name.
  TemporaryFile(const std::filesystem::path& neighbour, std::string target);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  void set_permissions(std::filesystem::perms permissions) const;
  /// Once its bytes are on the disk.
  void rename_to(const std::filesystem::path& file);

 private:
  bool open();
  void sync() const;

  std::filesystem::path path_;
  std::string target_;
  int descriptor_ = -1;
};

/// Takes away the temporary files that programs of this machine left in the folder of `neighbour` when they were
/// killed. What cannot be taken away stays, without an error.
void remove_abandoned_files(const std::filesystem::path& neighbour);

}}  // namespace farandole::report
