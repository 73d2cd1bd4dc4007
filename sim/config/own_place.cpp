#include <dlfcn.h>
#include <link.h>

#include "config/data_folder.hpp"

namespace farandole { inline namespace config {

std::filesystem::path own_folder() {
  static const char in_this_object = 0;
  Dl_info info{};
  link_map* object = nullptr;
  std::filesystem::path file = "/proc/self/exe";  // the main program has no name of its own
  if (dladdr1(&in_this_object, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0 && object != nullptr &&
      object->l_name != nullptr && object->l_name[0] != '\0') {
    file = object->l_name;
  }
  std::error_code unknown;
  const auto real = std::filesystem::canonical(file, unknown);
  return unknown ? std::filesystem::path() : real.parent_path();
}

}}  // namespace farandole::config
