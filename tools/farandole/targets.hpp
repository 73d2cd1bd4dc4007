// The files that a command reads and the files it will write, looked at before anything runs.
//
// A result never takes the place of what it is made from, nor of another result of the same command, and a file that
// cannot be written is found out before hours of work. What stands there stays until the result is whole.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace farandole {

class Targets {
 public:
  /// `what` it is, in a message: "the scenario".
  void reads(const std::string& what, const std::filesystem::path& file);
  /// `option` names it; nothing happens where there is no name, and so no file.
  void writes(const std::string& option, const std::string& file);

  /// InputError where a file is written twice, or is read too, or cannot be written; OutputError where the disk is
  /// full.
  void check() const;

 private:
  struct Named {
    std::string name;
    std::filesystem::path file;
  };
  std::vector<Named> inputs_;
  std::vector<Named> outputs_;
};

/// A file that nobody named is written only where there is none yet, or one that `is_ours`. InputError otherwise.
void require_free(const std::string& setting, const std::filesystem::path& file,
                  bool (*is_ours)(const std::filesystem::path& file), const std::string& hint);

}  // namespace farandole
