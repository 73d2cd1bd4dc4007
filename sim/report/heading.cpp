#include "report/heading.hpp"

#include <ostream>

#include "report/table.hpp"
#include "report/version.hpp"

namespace farandole {

void write_comment(std::ostream& out, const Heading& heading) {
  out << "# farandole " << version();
  if (!heading.scenario.empty()) out << ", scenario " << printable(heading.scenario);
  out << '\n';
  if (!heading.answer.empty()) out << "# " << printable(heading.answer) << '\n';
  for (const auto& [name, value] : heading.settings) {
    out << "#   " << printable(name) << ": " << printable(value) << '\n';
  }
}

}  // namespace farandole
