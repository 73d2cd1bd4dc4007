#include "timeline/size_class.hpp"

#include <array>

namespace farandole {

std::span<const SizeClass> size_classes() {
  static constexpr std::array<SizeClass, 4> classes{
      {{"below 64 KiB", 0}, {"64 KiB to 1 MiB", 65536}, {"1 MiB to 16 MiB", 1048576}, {"16 MiB and up", 16777216}}};
  return classes;
}

std::size_t size_class_of(Bytes size) {
  std::size_t found = 0;
  for (std::size_t c = 0; c < size_classes().size(); ++c) {
    if (size.si() >= size_classes()[c].least) found = c;
  }
  return found;
}

}  // namespace farandole
