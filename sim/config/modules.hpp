// Parts of the program that need a library which is not on every machine, or which takes long to load: MPI, NCCL with
// CUDA, NLopt, SimGrid (20 ms and 25 MB, most of them ns-3's). Each is a shared library of its own (farandole_NAME.so),
// loaded when it is first asked for, so that the program itself starts anywhere, and at once.
//
// Sought in lib/farandole/ of the installation that the program is part of, then in the build tree, then where the
// rooms were to be installed. A module carries
// its own copy of what it uses and hands out C functions; what they give are objects of interfaces that both sides
// know, and exceptions of theirs pass. A module stays loaded until the process ends.
#pragma once

#include <string>

namespace farandole { inline namespace config {

struct ModuleFunction {
  void* address = nullptr;  // null where the module cannot be used
  std::string missing;      // why not: it was not built, or the library that the system does not find
};

/// `name` is "mpi", "nccl", "nlopt" or "simgrid"; `function` one of its extern "C" functions.
ModuleFunction module_function(const std::string& name, const std::string& function);

/// Whether the module was built and is where it would be loaded from; whether it can be is not tried.
bool has_module(const std::string& name);

}}  // namespace farandole::config
