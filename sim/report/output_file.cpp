#include "report/output_file.hpp"

#include <cerrno>
#include <fstream>
#include <ostream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "config/error.hpp"

namespace farandole {
namespace {

namespace fs = std::filesystem;

/// `error` is an errno; 0 where the library kept none.
[[noreturn]] void fail(const std::string& target, int error) {
  const std::string reason = error == 0 ? "write failed" : std::generic_category().message(error);
  throw InputError(fmt::format("cannot write {}: {}", target, reason));
}

void write_stream(std::ostream& out, const std::string& target, const Writer& write) {
  errno = 0;
  write(out);
  out.flush();
  if (!out) fail(target, errno);
}

void write_directly(const fs::path& file, const std::string& target, const Writer& write) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  if (!out) fail(target, errno);
  write_stream(out, target, write);
}

/// A new, empty file beside `neighbour`, removed when it goes out of scope unless it was renamed.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& neighbour, const std::string& target) {
    // O_EXCL, so that two runs in one folder never share a file; the number makes room for several in one process.
    for (int number = 0;; ++number) {
      // Not derived from the target's name, which may already be as long as a name can be.
      path_ = neighbour.parent_path() / fmt::format(".farandole-{}-{}.tmp", ::getpid(), number);
      const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0) {
        ::close(descriptor);
        return;
      }
      if (errno != EEXIST) fail(target, errno);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  void rename_to(const fs::path& file, const std::string& target) {
    std::error_code error;
    fs::rename(path_, file, error);
    if (error) fail(target, error.value());
    path_.clear();
  }

 private:
  fs::path path_;
};

/// Where a chain of links ends; the path itself where that is nowhere in the file system (a pipe behind /dev/stdout).
fs::path resolved(const fs::path& file) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(file, error);
  return error ? file : result;
}

}  // namespace

void write_file(const fs::path& file, const Writer& write) {
  const std::string target = file.string();
  const fs::path resting_place = resolved(file);
  std::error_code error;
  const fs::file_status status = fs::status(resting_place, error);
  const bool exists = fs::exists(status);
  if (fs::is_directory(status)) fail(target, EISDIR);
  if (exists && !fs::is_regular_file(status)) return write_directly(file, target, write);
  // Renaming over a write-protected file would succeed, and surprise whoever protected it.
  if (exists && ::access(resting_place.c_str(), W_OK) != 0) fail(target, errno);

  TemporaryFile temporary(resting_place, target);
  write_directly(temporary.path(), target, write);
  if (exists) fs::permissions(temporary.path(), status.permissions(), error);
  temporary.rename_to(resting_place, target);
}

void write_output(const std::optional<fs::path>& file, std::ostream& standard_output, const Writer& write) {
  if (file) return write_file(*file, write);
  write_stream(standard_output, "standard output", write);
}

}  // namespace farandole
