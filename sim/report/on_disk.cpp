#include "report/on_disk.hpp"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/output_file.hpp"

namespace farandole { inline namespace report {

int sync_error(int descriptor) {
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  const bool is_nothing_to_wait_for = error == EINVAL || error == ENOTSUP || error == ENOSYS || error == EBADF;
  return is_nothing_to_wait_for ? 0 : error;
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

void sync_folder_of(const std::filesystem::path& file) {
  const int descriptor = ::open(folder_of(file).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may be written and not read cannot be waited for
  const int error = sync_error(descriptor);
  ::close(descriptor);
  if (error != 0) throw OutputError(file.string(), error);
}

bool is_name_of(const std::filesystem::path& name, int descriptor) {
  struct stat own {};
  struct stat there {};
  return ::fstat(descriptor, &own) == 0 && ::lstat(name.c_str(), &there) == 0 && own.st_dev == there.st_dev &&
         own.st_ino == there.st_ino;
}

}}  // namespace farandole::report
