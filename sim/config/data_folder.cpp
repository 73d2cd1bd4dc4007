#include "config/data_folder.hpp"

#include <cstdlib>

namespace farandole { inline namespace config {
namespace {

bool has_data(const std::filesystem::path& folder) {
  std::error_code none;
  return std::filesystem::is_directory(folder / "models", none) &&
         std::filesystem::is_directory(folder / "topologies", none);
}

}  // namespace

/// Beside the program of an installation; in the Python package, which holds one; in the source tree.
std::filesystem::path data_folder() {
  if (const char* said = std::getenv("FARANDOLE_DATA"); said != nullptr) return said;
  const auto own = own_folder();
  for (const auto& folder : {own / FARANDOLE_DATA_FROM_PROGRAM, own / "share/farandole"}) {
    if (!own.empty() && has_data(folder)) return folder.lexically_normal();
  }
  return FARANDOLE_DATA_DIR;
}

}}  // namespace farandole::config
