#include <algorithm>
#include <array>

#include "platform/launch/launch.hpp"

namespace farandole { inline namespace platform { namespace launch {

std::string Given::text() const {
  std::string text = name;
  for (const std::string& argument : arguments) text += (text.empty() ? "" : " ") + argument;
  return text;
}

std::span<const Launcher> launchers() {
  static const std::array<Launcher, 3> table{{
      {"horovodrun", "horovodrun", horovodrun_options()},
      {"mpirun",
       "mpirun mpiexec mpiexec.hydra mpirun.openmpi mpiexec.openmpi mpirun.mpich mpiexec.mpich orterun prterun",
       mpirun_options()},
      {"aprun", "aprun", aprun_options(), true},
  }};
  return table;
}

bool is_among(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const auto end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}}}  // namespace farandole::platform::launch
