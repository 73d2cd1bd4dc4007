#include "timeline/size_class.hpp"

#include <gtest/gtest.h>

namespace farandole {
namespace {

TEST(SizeClass, BeginsAtItsLeastSize) {
  EXPECT_EQ(size_class_of(Bytes(0)), 0U);
  for (std::size_t c = 1; c < size_classes().size(); ++c) {
    EXPECT_EQ(size_class_of(Bytes(size_classes()[c].least)), c);
    EXPECT_EQ(size_class_of(Bytes(size_classes()[c].least - 1)), c - 1);
  }
}

}  // namespace
}  // namespace farandole
