#include "report/output_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <ostream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "config/error.hpp"
#include "report/temporary_file.hpp"

namespace farandole { inline namespace report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& target, int error) {
  throw OutputError(target, error);
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
  out.close();  // a file system of another machine says only then that there was no room
  if (!out) fail(target, errno);
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
    if (status.type() == fs::file_type::none) fail(file.string(), error.value());
    if (fs::is_directory(status)) fail(file.string(), EISDIR);
    // Renaming over a write-protected file would succeed, and surprise whoever protected it.
    if (fs::exists(status) && ::access(resting_place.c_str(), W_OK) != 0) fail(file.string(), errno);
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
