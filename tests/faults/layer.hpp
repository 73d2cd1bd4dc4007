// What the layers in place of the C library's functions share: the functions that they stand before, and who acts.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace fault_layer {

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

inline long number(const char* name) {
  return std::atol(variable(name).c_str());
}

/// Other programs have these layers loaded too: what starts farandole, and what it starts.
inline bool acts_here() {
  const std::string rank = variable("OMPI_COMM_WORLD_RANK");
  const std::string chosen = variable("FARANDOLE_FAULT_RANK");
  const std::string program = ::program_invocation_short_name;
  return program == "farandole" && (rank.empty() || rank == (chosen.empty() ? "0" : chosen));
}

template <class Function>
Function* next(const char* name, Function* /*same*/) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace fault_layer

/// The function of that name which would be called without us.
#define NEXT(function)                                              \
  (*[] {                                                            \
    static auto* found = fault_layer::next(#function, &::function); \
    return found;                                                   \
  }())

namespace fault_layer {

inline void append_line(const std::string& file, const std::string& line) {
  const int descriptor = NEXT(open)(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  static_cast<void>(!NEXT(write)(descriptor, line.data(), line.size()));
  NEXT(close)(descriptor);
}

}  // namespace fault_layer
