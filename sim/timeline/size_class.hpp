// Classes of message sizes: measurements of about one size scatter alike, and are told together.
#pragma once

#include <cstddef>
#include <span>

#include "units/quantity.hpp"

namespace farandole {

struct SizeClass {
  const char* name;
  double most;  // bytes
};

/// From the smallest up; the last has no end.
std::span<const SizeClass> size_classes();

/// Which of them a size belongs to.
std::size_t size_class_of(Bytes size);

}  // namespace farandole
