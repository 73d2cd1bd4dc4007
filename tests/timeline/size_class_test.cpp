#include <gtest/gtest.h>

#include "timeline/validation.hpp"

namespace farandole::size_class_test { namespace {

TEST(SizeClass, EndsWithItsLargestSizeIncluded) {
  EXPECT_EQ(size_class_of(Bytes(0)), 0U);
  for (std::size_t c = 0; c + 1 < size_classes.size(); ++c) {
    EXPECT_EQ(size_class_of(Bytes(size_classes[c].most)), c);
    EXPECT_EQ(size_class_of(Bytes(size_classes[c].most + 1)), c + 1);
  }
}

}}  // namespace farandole::size_class_test
