#include "report/temporary_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/on_disk.hpp"
#include "report/output_file.hpp"

namespace farandole { inline namespace report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".tmp";

/// Not derived from the target's name, which may already be as long as a name can be.
std::string prefix() {
  std::array<char, 65> host{};
  static_cast<void>(::gethostname(host.data(), host.size() - 1));
  std::string name = host.data();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
  return fmt::format(".farandole-{}-", name);
}

bool is_locked_elsewhere(int descriptor) {
  return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool is_regular(int descriptor) {
  struct stat own {};
  return ::fstat(descriptor, &own) == 0 && S_ISREG(own.st_mode);
}

void remove_if_abandoned(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  const bool is_abandoned = is_regular(descriptor) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (is_abandoned && is_name_of(path, descriptor)) ::unlink(path.c_str());
  ::close(descriptor);
}

bool is_removed(int descriptor) {
  struct stat own {};
  return ::fstat(descriptor, &own) == 0 && own.st_nlink == 0;
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& neighbour, std::string target) : target_(std::move(target)) {
  // The number makes room for several in one process.
  for (int number = 0; descriptor_ < 0; ++number) {
    path_ = neighbour.parent_path() / fmt::format("{}{}-{}{}", prefix(), ::getpid(), number, suffix);
    if (!open() && errno != EEXIST) throw OutputError(target_, errno);
  }
}

/// False, with errno, where it cannot be made; EEXIST where another name has to be tried.
bool TemporaryFile::open() {
  // O_EXCL, so that two runs in one folder never share a file.
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return false;
  // Where there are no locks nobody removes it, and it is written without.
  if (!is_locked_elsewhere(descriptor_) && !is_removed(descriptor_)) return true;
  ::close(descriptor_);  // somebody took it for abandoned before it was locked
  descriptor_ = -1;
  errno = EEXIST;
  return false;
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove(path_, ignored);
  ::close(descriptor_);
}

void TemporaryFile::set_permissions(fs::perms permissions) const {
  std::error_code error;
  fs::permissions(path_, permissions, error);
  if (!error) return;
  std::error_code none;
  if (fs::status(path_, none).permissions() != permissions) throw OutputError(target_, error.value());
}

void TemporaryFile::rename_to(const fs::path& file) {
  sync();
  std::error_code error;
  fs::rename(path_, file, error);
  if (error) throw OutputError(target_, error.value());
  path_.clear();
  sync_folder_of(file);
}

/// A name must not come to the disk before what it names.
void TemporaryFile::sync() const {
  if (const int error = sync_error(descriptor_); error != 0) throw OutputError(target_, error);
}

void remove_abandoned_files(const fs::path& neighbour) {
  const std::string begin = prefix();
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(neighbour), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(begin) && name.ends_with(suffix)) remove_if_abandoned(entry->path());
  }
}

}}  // namespace farandole::report
