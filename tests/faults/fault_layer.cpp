// Loaded before the C library (LD_PRELOAD), for tests/faults/faults.py: makes one operation on the files of a folder
// fail.
//
// Operations are counted in the order in which the program makes them: open (for writing), write, cut, sync, rename,
// remove, chmod, close (of what was open for writing), lock, flock and read. Those of other files pass. The environment
// says what happens:
//
//   FARANDOLE_FAULT_FOLDER   the folder, without links and without a slash at its end
//   FARANDOLE_FAULT_ONLY     count only "OPERATION:" or "OPERATION:END", names that end so
//   FARANDOLE_FAULT_AT       number of the operation, from 1
//   FARANDOLE_FAULT_KIND     error: it fails; full: so do all later writes and new files, after half of its bytes;
//   short: half of
//                            its bytes are written; kill: SIGKILL in its place; tear: SIGKILL after half of its bytes;
//                            hold: it waits until FARANDOLE_FAULT_RELEASE is there, having made FARANDOLE_FAULT_HELD
//   FARANDOLE_FAULT_ERRNO    the errno of error and full
//   FARANDOLE_FAULT_LOG      a file that takes a line per operation: OPERATION NAME
//   FARANDOLE_FAULT_SYNCED   a folder that takes what a loss of power would leave: "data-INODE", the bytes of a file
//   when it was
//                            last synced, and "names", a line "INODE NAME" for each when the folder was
//
// Under Open MPI it acts in rank 0 only, or in rank FARANDOLE_FAULT_RANK.
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faults/layer.hpp"

namespace {

using fault_layer::append_line;
using fault_layer::number;
using fault_layer::variable;

struct Plan {
  std::string folder = variable("FARANDOLE_FAULT_FOLDER");
  std::string only = variable("FARANDOLE_FAULT_ONLY");
  std::string kind = variable("FARANDOLE_FAULT_KIND");
  std::string log = variable("FARANDOLE_FAULT_LOG");
  std::string synced = variable("FARANDOLE_FAULT_SYNCED");
  long at = number("FARANDOLE_FAULT_AT");
  int error = static_cast<int>(number("FARANDOLE_FAULT_ERRNO"));
  bool acts = fault_layer::acts_here();
};

// Never destroyed: files are closed while the program ends.
const Plan& plan() {
  static const Plan& only = *new Plan;
  return only;
}

std::atomic<long> operations{0};
std::atomic<bool> is_full{false};

std::string name_of(int descriptor) {
  if (!plan().acts) return "";
  char name[4096];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), name, sizeof name);
  return size > 0 ? std::string(name, static_cast<std::size_t>(size)) : "";
}

std::string absolute(const char* name) {
  if (name[0] == '/') return name;
  char folder[4096];
  return ::getcwd(folder, sizeof folder) == nullptr ? "" : std::string(folder) + "/" + name;
}

bool is_ours(const std::string& name) {
  const Plan& p = plan();
  return p.acts && !p.folder.empty() && name.starts_with(p.folder) &&
         (name.size() == p.folder.size() || name[p.folder.size()] == '/');
}

void wait_for_release() {
  append_line(variable("FARANDOLE_FAULT_HELD"), "held\n");
  const std::string release = variable("FARANDOLE_FAULT_RELEASE");
  while (::access(release.c_str(), F_OK) != 0) ::usleep(1000);
}

enum class Fate { passes, fails, half, half_and_killed };

bool is_counted(const std::string& operation, const std::string& name) {
  const std::string& only = plan().only;
  if (only.empty()) return true;
  const std::size_t colon = only.find(':');
  return only.substr(0, colon) == operation && name.ends_with(only.substr(colon + 1));
}

/// What becomes of an operation on that file; errno is set where it fails.
Fate fate_of(const std::string& operation, const std::string& name) {
  if (!is_ours(name)) return Fate::passes;
  const Plan& p = plan();
  if (!p.log.empty()) append_line(p.log, operation + " " + name.substr(p.folder.size()) + "\n");
  const bool is_write = operation == "write";
  const bool is_chosen = is_counted(operation, name) && ++operations == p.at;
  const bool needs_space = is_write || operation == "open";
  if (is_full && needs_space) {
    errno = p.error;
    return Fate::fails;
  }
  if (!is_chosen) return Fate::passes;
  if (p.kind == "kill" || (p.kind == "tear" && !is_write)) ::kill(::getpid(), SIGKILL);
  if (p.kind == "hold") wait_for_release();
  if (p.kind == "full") is_full = true;
  if (is_write && p.kind == "tear") return Fate::half_and_killed;
  if (is_write && (p.kind == "short" || p.kind == "full")) return Fate::half;
  errno = p.error;
  return p.kind == "error" || (p.kind == "full" && needs_space) ? Fate::fails : Fate::passes;
}

ssize_t write_as(Fate fate, int descriptor, const char* data, std::size_t size) {
  if (fate == Fate::fails) return -1;
  const bool whole = fate == Fate::passes || (fate == Fate::half && size < 2);
  const ssize_t written = NEXT(write)(descriptor, data, whole ? size : size / 2);
  if (fate == Fate::half_and_killed) ::kill(::getpid(), SIGKILL);
  return written;
}

/// Copies the bytes of a file, or the names of a folder, to where a loss of power would leave them.
void keep_synced(int descriptor, const std::string& name) {
  const std::string& folder = plan().synced;
  struct stat status {};
  if (folder.empty() || !is_ours(name) || ::fstat(descriptor, &status) != 0) return;
  std::string bytes;
  if (S_ISDIR(status.st_mode)) {
    DIR* open = ::opendir(name.c_str());
    while (const dirent* entry = ::readdir(open)) bytes += std::to_string(entry->d_ino) + " " + entry->d_name + "\n";
    ::closedir(open);
  } else {
    bytes.resize(static_cast<std::size_t>(status.st_size));
    const int own = NEXT(open)(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDONLY | O_CLOEXEC);
    static_cast<void>(!NEXT(pread)(own, bytes.data(), bytes.size(), 0));
    NEXT(close)(own);
  }
  const std::string file = folder + (S_ISDIR(status.st_mode) ? "/names" : "/data-" + std::to_string(status.st_ino));
  const int copy = NEXT(open)(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  static_cast<void>(!NEXT(write)(copy, bytes.data(), bytes.size()));
  NEXT(close)(copy);
}

bool writes(int descriptor) {
  return (NEXT(fcntl)(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

int open_as(int (*open_next)(const char*, int, ...), const char* name, int flags, mode_t mode) {
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  if (writes && fate_of("open", absolute(name)) == Fate::fails) return -1;
  return open_next(name, flags, mode);
}

FILE* fopen_as(FILE* (*fopen_next)(const char*, const char*), const char* name, const char* mode) {
  const bool writes = std::strpbrk(mode, "wa+") != nullptr;
  if (writes && fate_of("open", absolute(name)) == Fate::fails) return nullptr;
  return fopen_next(name, mode);
}

}  // namespace

extern "C" {

int open(const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_as(NEXT(open), name, flags, mode);
}

int open64(const char* name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_as(NEXT(open64), name, flags, mode);
}

FILE* fopen(const char* name, const char* mode) {
  return fopen_as(NEXT(fopen), name, mode);
}

FILE* fopen64(const char* name, const char* mode) {
  return fopen_as(NEXT(fopen64), name, mode);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  return write_as(fate_of("write", name_of(descriptor)), descriptor, static_cast<const char*>(data), size);
}

ssize_t writev(int descriptor, const iovec* pieces, int count) {
  const Fate fate = fate_of("write", name_of(descriptor));
  if (fate == Fate::passes) return NEXT(writev)(descriptor, pieces, count);
  std::string data;
  for (int i = 0; i < count; ++i) data.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  return write_as(fate, descriptor, data.data(), data.size());
}

ssize_t read(int descriptor, void* data, size_t size) {
  return fate_of("read", name_of(descriptor)) == Fate::fails ? -1 : NEXT(read)(descriptor, data, size);
}

ssize_t pread(int descriptor, void* data, size_t size, off_t from) {
  return fate_of("read", name_of(descriptor)) == Fate::fails ? -1 : NEXT(pread)(descriptor, data, size, from);
}

int ftruncate(int descriptor, off_t size) noexcept {
  return fate_of("cut", name_of(descriptor)) == Fate::fails ? -1 : NEXT(ftruncate)(descriptor, size);
}

int fsync(int descriptor) {
  const std::string name = name_of(descriptor);
  if (fate_of("sync", name) == Fate::fails) return -1;
  const int status = NEXT(fsync)(descriptor);
  keep_synced(descriptor, name);
  return status;
}

int rename(const char* from, const char* to) noexcept {
  return fate_of("rename", absolute(to)) == Fate::fails ? -1 : NEXT(rename)(from, to);
}

int unlink(const char* name) noexcept {
  return fate_of("remove", absolute(name)) == Fate::fails ? -1 : NEXT(unlink)(name);
}

int remove(const char* name) noexcept {
  return fate_of("remove", absolute(name)) == Fate::fails ? -1 : NEXT(remove)(name);
}

int fchmodat(int folder, const char* name, mode_t mode, int flags) noexcept {
  return fate_of("chmod", absolute(name)) == Fate::fails ? -1 : NEXT(fchmodat)(folder, name, mode, flags);
}

int fchmod(int descriptor, mode_t mode) noexcept {
  return fate_of("chmod", name_of(descriptor)) == Fate::fails ? -1 : NEXT(fchmod)(descriptor, mode);
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (command == F_SETLK && fate_of("lock", name_of(descriptor)) == Fate::fails) return -1;
  return NEXT(fcntl)(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(descriptor, command, argument);
}

int flock(int descriptor, int operation) noexcept {
  return fate_of("flock", name_of(descriptor)) == Fate::fails ? -1 : NEXT(flock)(descriptor, operation);
}

// What is closed is closed, whatever its last bytes came to.
int close(int descriptor) {
  const Fate fate = writes(descriptor) ? fate_of("close", name_of(descriptor)) : Fate::passes;
  const int status = NEXT(close)(descriptor);
  if (fate != Fate::fails) return status;
  errno = plan().error;
  return -1;
}

int fclose(FILE* file) {
  const int descriptor = ::fileno(file);
  const Fate fate = descriptor >= 0 && writes(descriptor) ? fate_of("close", name_of(descriptor)) : Fate::passes;
  const int status = NEXT(fclose)(file);
  if (fate != Fate::fails) return status;
  errno = plan().error;
  return EOF;
}

}  // extern "C"
