#include "report/heading.hpp"

namespace farandole { inline namespace report {

std::string_view version() {
  return FARANDOLE_VERSION;
}

}}  // namespace farandole::report
