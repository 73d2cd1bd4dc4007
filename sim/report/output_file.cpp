#include "report/output_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <ostream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/error.hpp"

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

void remove_if_abandoned(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  struct stat own {};
  const bool is_regular = ::fstat(descriptor, &own) == 0 && S_ISREG(own.st_mode);
  const bool is_abandoned = is_regular && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  if (is_abandoned && is_name_of(path, descriptor)) ::unlink(path.c_str());
  ::close(descriptor);
}

// A file beside the one that is to be written, which takes its name once it is whole and on the disk.
//
// Called by report/output_file.hpp. It is removed when it goes out of scope, unless it was renamed. A program that is
// killed leaves it; the next one on this machine that writes in that folder takes it away. While a program writes, it
// holds a lock on the file, which ends with it, so that nobody removes what another still writes. Its name has that of
// the machine: file systems that are shared may keep locks to each machine. Throws OutputError.

class TemporaryFile {
 public:
  /// New and empty, in the folder of `neighbour`. `target` is what errors name.
  TemporaryFile(const fs::path& neighbour, std::string target) : target_(std::move(target)) {
    // The number makes room for several in one process.
    for (int number = 0; descriptor_ < 0; ++number) {
      path_ = neighbour.parent_path() / fmt::format("{}{}-{}{}", prefix(), ::getpid(), number, suffix);
      if (!open() && errno != EEXIST) throw OutputError(target_, errno);
    }
  }

  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  ~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
    ::close(descriptor_);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  void set_permissions(fs::perms permissions) const {
    std::error_code error;
    fs::permissions(path_, permissions, error);
    if (!error) return;
    std::error_code none;
    if (fs::status(path_, none).permissions() != permissions) throw OutputError(target_, error.value());
  }

  /// Once its bytes are on the disk.
  void rename_to(const fs::path& file) {
    // A name must not come to the disk before what it names.
    if (const int error = sync_error(descriptor_); error != 0) throw OutputError(target_, error);
    std::error_code error;
    fs::rename(path_, file, error);
    if (error) throw OutputError(target_, error.value());
    path_.clear();
    sync_folder_of(file);
  }

 private:
  /// False, with errno, where it cannot be made; EEXIST where another name has to be tried.
  bool open() {
    // O_EXCL, so that two runs in one folder never share a file.
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return false;
    // Where there are no locks nobody removes it, and it is written without.
    const bool is_locked_elsewhere = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat own {};
    const bool is_removed = ::fstat(descriptor_, &own) == 0 && own.st_nlink == 0;
    if (!is_locked_elsewhere && !is_removed) return true;
    ::close(descriptor_);  // somebody took it for abandoned before it was locked
    descriptor_ = -1;
    errno = EEXIST;
    return false;
  }

  std::filesystem::path path_;
  std::string target_;
  int descriptor_ = -1;
};

void remove_abandoned_files(const fs::path& neighbour) {
  const std::string begin = prefix();
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(neighbour), error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with(begin) && name.ends_with(suffix)) remove_if_abandoned(entry->path());
  }
}

void write_stream(std::ostream& out, const std::string& target, const Writer& write) {
  errno = 0;
  write(out);
  out.flush();
  if (!out) throw OutputError(target, errno);
}

void write_directly(const fs::path& file, const std::string& target, const Writer& write) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!out) throw OutputError(target, errno);
  write_stream(out, target, write);
  out.close();  // a file system of another machine says only then that there was no room
  if (!out) throw OutputError(target, errno);
}

/// Where a chain of links ends; the path itself where that is nowhere in the file system (a pipe behind /dev/stdout).
fs::path resolved(const fs::path& file) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(file, error);
  return error ? file : result;
}

/// What stands where a file is to be written.
struct Target {
  /// Throws OutputError where nothing can be written.
  explicit Target(const fs::path& file) : resting_place(resolved(file)) {
    std::error_code error;
    status = fs::status(resting_place, error);
    if (status.type() == fs::file_type::none) throw OutputError(file.string(), error.value());
    if (fs::is_directory(status)) throw OutputError(file.string(), EISDIR);
    // Renaming over a write-protected file would succeed, and surprise whoever protected it.
    if (fs::exists(status) && ::access(resting_place.c_str(), W_OK) != 0) throw OutputError(file.string(), errno);
    is_written_directly = fs::exists(status) && !fs::is_regular_file(status);
  }

  fs::path resting_place;  // behind all links
  fs::file_status status;
  bool is_written_directly = false;
};

/// Another name would do; else no file can be written there or anywhere.
bool is_of_the_name(int error) {
  constexpr std::array errors{EACCES,  EISDIR, EINVAL, ELOOP,   ENAMETOOLONG, ENOENT,
                              ENOTDIR, ENXIO,  EPERM,  ENOTSUP, EROFS,        ETXTBSY};
  return std::ranges::find(errors, error) != errors.end();
}

}  // namespace

OutputError::OutputError(const std::string& target, int error)
    : std::runtime_error(InputError(fmt::format("cannot write {}: {}", target,
                                                error == 0 ? "write failed" : std::generic_category().message(error)))
                             .what()),
      error_(error) {}

void write_file(const fs::path& file, const Writer& write) {
  const std::string target = file.string();
  const Target place(file);
  if (place.is_written_directly) return write_directly(file, target, write);
  remove_abandoned_files(place.resting_place);
  TemporaryFile temporary(place.resting_place, target);
  // Before there is anything to read: what only its owner may see, nobody else sees at any time.
  if (fs::exists(place.status)) temporary.set_permissions(place.status.permissions());
  write_directly(temporary.path(), target, write);
  temporary.rename_to(place.resting_place);
}

void try_file(const fs::path& file) {
  try {
    const Target place(file);
    if (!place.is_written_directly) const TemporaryFile tried(place.resting_place, file.string());
  } catch (const OutputError& error) {
    if (!is_of_the_name(error.error())) throw;
    throw InputError(error.what());
  }
}

void write_output(const std::optional<fs::path>& file, std::ostream& standard_output, const Writer& write) {
  if (file) return write_file(*file, write);
  write_stream(standard_output, "standard output", write);
}

}}  // namespace farandole::report
