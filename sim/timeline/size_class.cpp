#include <array>
#include <cmath>

#include "timeline/validation.hpp"

namespace farandole { inline namespace timeline {

std::span<const SizeClass> size_classes() {
  static constexpr std::array<SizeClass, 4> classes{{{"at most 64 KiB", 65536},
                                                     {"above 64 KiB to 1 MiB", 1048576},
                                                     {"above 1 MiB to 16 MiB", 16777216},
                                                     {"above 16 MiB", HUGE_VAL}}};
  return classes;
}

std::size_t size_class_of(Bytes size) {
  std::size_t found = 0;
  while (size.si() > size_classes()[found].most) ++found;
  return found;
}

}}  // namespace farandole::timeline
