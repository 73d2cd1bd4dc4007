#include "units/quantity.hpp"

#include <type_traits>

#include <gtest/gtest.h>

namespace farandole::quantity_test { namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
  a < b;
};

TEST(Quantity, DividesIntoTheRightDimension) {
  static_assert(std::is_same_v<decltype(1_B / 1_s), BytesPerSecond>);
  static_assert(std::is_same_v<decltype(1_B / 1_Bps), Seconds>);
  static_assert(std::is_same_v<decltype(1_Bps * 1_s), Bytes>);
  static_assert(std::is_same_v<decltype(1_GFLOP / 1_TFLOPps), Seconds>);
  static_assert(std::is_same_v<decltype(1.0 / 1_s), PerSecond>);
  EXPECT_DOUBLE_EQ((100_MB / 25_Gbps).si(), 0.032);  // 100e6 B / (25e9/8 B/s)
}

TEST(Quantity, OfEqualDimensionsDividesIntoAPlainNumber) {
  static_assert(std::is_same_v<decltype(1_s / 1_ms), double>);
  static_assert(std::is_same_v<decltype((1.0 / 1_s) * 1_s), double>);
  EXPECT_DOUBLE_EQ(1_GiB / 1_MiB, 1024.0);
}

TEST(Quantity, DoesNotMixDimensions) {
  static_assert(!Addable<Bytes, Seconds>);
  static_assert(!Addable<Bytes, double>);
  static_assert(!Comparable<Bytes, BytesPerSecond>);
  static_assert(!std::is_convertible_v<double, Bytes>);
  static_assert(Addable<Bytes, Bytes> && Comparable<Seconds, Seconds>);
}

TEST(Quantity, AddsScalesAndCompares) {
  Seconds time = 1_s;
  time += 500_ms;
  time *= 2;
  time -= 1_s;
  time /= 4;
  EXPECT_DOUBLE_EQ(time.si(), 0.5);
  EXPECT_EQ(2 * 1_s, 1_s * 2.0);
  EXPECT_EQ(-(1_s - 2_s), 1_s);
  EXPECT_LT(1_us, 1_ms);
  EXPECT_GT(Seconds::infinity(), 1e300 * 1_s);
  EXPECT_EQ(Seconds(), 0_s);
}

TEST(Literals, TakePowersOfAThousandAndOf1024) {
  EXPECT_EQ((1_KiB).si(), 1024.0);
  EXPECT_EQ((1_GiB).si(), 1073741824.0);
  EXPECT_EQ((1_GB).si(), 1e9);
  EXPECT_EQ((8_Gbps).si(), 1e9);
  EXPECT_EQ((1_GBps).si(), 1e9);
  EXPECT_DOUBLE_EQ((2_us).si(), 2e-6);
  EXPECT_EQ((1.5_TFLOPps).si(), 1.5e12);
}

}}  // namespace farandole::quantity_test
