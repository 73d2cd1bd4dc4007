#include "report/terminal_style.hpp"

#include <cstdlib>
#include <ostream>

#include <fmt/format.h>
#include <unistd.h>

namespace farandole { inline namespace report {
namespace {

int mark_of_styles() {
  static const int index = std::ios_base::xalloc();
  return index;
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool terminal_takes_styles() {
  // A launcher may hold a terminal to each of its processes, and its own output in a pipe.
  const bool is_launched = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMIX_RANK") || is_set("PMI_RANK");
  if (::isatty(STDOUT_FILENO) == 0 || is_launched || is_set("NO_COLOR") || !is_set("TERM")) return false;
  return std::string_view(std::getenv("TERM")) != "dumb";
}

void use_styles(std::ostream& out) {
  out.iword(mark_of_styles()) = 1;
}

std::string styled(std::ostream& out, Style style, std::string_view text) {
  if (out.iword(mark_of_styles()) == 0) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", static_cast<int>(style), text);
}

}}  // namespace farandole::report
