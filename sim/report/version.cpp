#include "report/version.hpp"

namespace farandole {

std::string_view version() {
  return FARANDOLE_VERSION;
}

}  // namespace farandole
