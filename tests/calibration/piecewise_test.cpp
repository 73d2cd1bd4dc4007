// Straight pieces through times by size: how many, where they meet, what bounds them, what they cannot know.
#include <gtest/gtest.h>

#include "calibration/library_fit.hpp"

namespace farandole::piecewise_test { namespace {

/// A library with two ways: LL up to 64 KiB and Simple above, on a wire of 10 GB/s of which LL's flags take half.
std::vector<LibraryWay> two_ways(Bytes size) {
  const LibraryWay ll{"tree", "LL", Seconds(10e-6), 4_GBps, 5_GBps};
  const LibraryWay simple{"ring", "Simple", Seconds(40e-6), 8_GBps, 10_GBps};
  if (size <= 64_KiB) return {ll, simple};
  return {simple, ll};
}

std::vector<TimedSize> samples(Seconds (*time)(Bytes), double least = 1024, double most = 1 << 28) {
  std::vector<TimedSize> all;
  for (double size = least; size <= most; size *= 2) all.push_back({Bytes(size), time(Bytes(size))});
  return all;
}

Seconds two_pieces(Bytes size) {
  return size <= 64_KiB ? Seconds(20e-6) + size / 2_GBps : Seconds(60e-6) + size / 8_GBps;
}

TEST(Pieces, AreFoundWhereLatencyAndRateChange) {
  const auto pieces = fit_pieces(samples(two_pieces), two_ways);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_NEAR(pieces[0].latency.value, 20e-6, 1e-9);
  EXPECT_NEAR(1 / pieces[0].time_per_byte.value, 2e9, 1e4);
  EXPECT_EQ(pieces[0].way.protocol, "LL");
  EXPECT_NEAR(pieces[1].latency.value, 60e-6, 1e-9);
  EXPECT_NEAR(1 / pieces[1].time_per_byte.value, 8e9, 1e4);
  EXPECT_EQ(pieces[1].way.protocol, "Simple");
}

TEST(Pieces, MeetWhereTheirLinesCross) {
  // 20 us + M / (2 GB/s) = 60 us + M / (8 GB/s) at M = 40 us / (3/8 ns per byte) = 106,666.7 bytes
  const auto pieces = fit_pieces(samples(two_pieces), two_ways);
  EXPECT_NEAR(pieces.at(1).from.si(), 106667, 2);
}

TEST(Pieces, OneLineIsOnePiece) {
  const auto pieces = fit_pieces(samples([](Bytes size) { return Seconds(30e-6) + size / 4_GBps; }), two_ways);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].from, Bytes(0));
  EXPECT_EQ(pieces[0].measurements, 19);
}

TEST(Pieces, AreNeverFasterThanTheWire) {
  const auto pieces = fit_pieces(samples([](Bytes size) { return Seconds(60e-6) + size / 20_GBps; }), two_ways);
  for (const FittedPiece& piece : pieces) EXPECT_GE(piece.time_per_byte.value, 1 / piece.way.wire.si());
}

TEST(Pieces, TakeAnotherWayWhereTheLibrarysOwnCouldNotBeSoFast) {
  // Small messages at 9 GB/s: more than LL's 5.
  const auto pieces =
      fit_pieces(samples([](Bytes size) { return Seconds(1e-7) + size / 9_GBps; }, 4096, 32768), two_ways);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].way.protocol, "Simple");
  EXPECT_NEAR(1 / pieces[0].time_per_byte.value, 9e9, 1e5);
}

TEST(Pieces, SayWhatTheMeasurementsDoNotSettle) {
  // A few bytes more or less do not show a rate.
  const auto pieces =
      fit_pieces(samples([](Bytes size) { return Seconds(20e-6 + (size == 16_B ? 1e-6 : 0)); }, 4, 64), two_ways);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_FALSE(pieces[0].time_per_byte.unidentified.empty());
  EXPECT_NEAR(1 / pieces[0].time_per_byte.value, 4e9, 1) << "it keeps the library's own";
  EXPECT_TRUE(pieces[0].latency.unidentified.empty());
  EXPECT_NEAR(pieces[0].latency.value, 20e-6, 0.2e-6);
}

TEST(Pieces, ASingleMeasurementIsAPieceToo) {
  const auto pieces = fit_pieces(std::vector<TimedSize>{{1_MiB, Seconds(1e-3)}}, two_ways);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].measurements, 1);
}

}}  // namespace farandole::piecewise_test
