#include "report/version.hpp"

namespace farandole::inline report {

std::string_view version() {
  return FARANDOLE_VERSION;
}

}  // namespace farandole::inline report
