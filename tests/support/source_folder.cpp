#include "support/source_folder.hpp"

namespace farandole::test {

std::filesystem::path source_folder() {
  return FARANDOLE_SOURCE_DIR;
}

}  // namespace farandole::test
