#include "config/modules.hpp"

#include <array>
#include <filesystem>

#include <dlfcn.h>

#include "config/data_folder.hpp"

namespace farandole { inline namespace config {
namespace {

// SimGrid's library, which may be loaded, defines functions by the names of MPI's. So a module looks into its own
// libraries first. The sanitizers' runtime refuses that.
#ifdef __SANITIZE_ADDRESS__
constexpr int how = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int how = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

std::filesystem::path module_file(const std::string& name) {
  const auto own = own_folder();
  // beside the program of an installation; in the Python package, which holds one; in the build tree; and for programs
  // of others on our libraries, where these are installed
  const std::array folders{own / FARANDOLE_MODULES_FROM_PROGRAM, own / "lib/farandole",
                           std::filesystem::path(FARANDOLE_BUILT_MODULES),
                           std::filesystem::path(FARANDOLE_INSTALLED_MODULES)};
  for (const auto& folder : folders) {
    const auto file = folder / ("farandole_" + name + ".so");
    std::error_code none;
    if (std::filesystem::exists(file, none)) return file;
  }
  return {};
}

/// dlopen's own words name the module first where a library of it is missing.
std::string reason() {
  const char* text = dlerror();
  return text == nullptr ? "it cannot be loaded" : text;
}

}  // namespace

bool has_module(const std::string& name) {
  return !module_file(name).empty();
}

ModuleFunction module_function(const std::string& name, const std::string& function) {
  const auto file = module_file(name);
  if (file.empty()) return {nullptr, "not built"};
  void* module = dlopen(file.c_str(), how);
  void* address = module == nullptr ? nullptr : dlsym(module, function.c_str());
  return {address, address == nullptr ? reason() : ""};
}

}}  // namespace farandole::config
