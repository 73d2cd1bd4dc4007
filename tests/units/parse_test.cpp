#include <string>

#include <gtest/gtest.h>

#include "units/format.hpp"

namespace farandole::parse_test { namespace {

template <class T>
void expect_reads(std::string_view text, T expected) {
  const auto parsed = parse_quantity<T>(text);
  ASSERT_TRUE(std::holds_alternative<T>(parsed)) << text;
  EXPECT_DOUBLE_EQ(std::get<T>(parsed).si(), expected.si()) << text;
}

/// "expected ..., got ...", as it stands in an error message.
template <class T>
std::string refusal(std::string_view text) {
  const auto parsed = parse_quantity<T>(text);
  if (!std::holds_alternative<UnitMismatch>(parsed)) return "(read)";
  const auto& mismatch = std::get<UnitMismatch>(parsed);
  return "expected " + mismatch.expected + ", got " + mismatch.got;
}

TEST(ParseQuantity, ReadsSizesWithDecimalAndBinaryPrefixes) {
  expect_reads("8 B", 8_B);
  expect_reads("64 MiB", Bytes(64.0 * 1024 * 1024));
  expect_reads("64 MB", Bytes(64e6));
  expect_reads("1 KiB", Bytes(1024));
  expect_reads("1 kB", Bytes(1000));
  expect_reads("2 TiB", Bytes(2.0 * 1024 * 1024 * 1024 * 1024));
  expect_reads("1 PiB", Bytes(1125899906842624.0));
  expect_reads("8 bit", 1_B);
}

TEST(ParseQuantity, ReadsTimesDownToNanosecondsAndUpToHours) {
  expect_reads("2 us", 2_us);
  expect_reads("2 µs", 2_us);
  expect_reads("1.5 ms", 1.5_ms);
  expect_reads("100 ns", 100_ns);
  expect_reads("5 s", 5_s);
  expect_reads("2 min", 120_s);
  expect_reads("1 h", 3600_s);
}

TEST(ParseQuantity, TakesABitPerSecondForAnEighthOfAByte) {
  expect_reads("25 Gbit/s", BytesPerSecond(25e9 / 8));
  expect_reads("25 GB/s", BytesPerSecond(25e9));
  expect_reads("900 Mbit/s", 900_Mbps);
  expect_reads("1 GiB/s", BytesPerSecond(1073741824.0));
}

TEST(ParseQuantity, ReadsWorkAndComputeRates) {
  expect_reads("7.8 GFLOP", 7.8_GFLOP);
  expect_reads("9.3 TFLOP/s", 9.3_TFLOPps);
  expect_reads("1 FLOP", Flop(1));
  expect_reads("1.5 PFLOP/s", FlopPerSecond(1.5e15));
}

TEST(ParseQuantity, ReadsExponentsAndNumbersWithoutSpaceBeforeTheUnit) {
  expect_reads("1e-6 s", 1_us);
  expect_reads("1.5e3MB", Bytes(1.5e9));
}

TEST(ParseQuantity, RefusesAUnitOfAnotherDimensionAndNamesThatDimension) {
  EXPECT_EQ(refusal<BytesPerSecond>("25 GB"), "expected a rate such as \"25 Gbit/s\", got \"25 GB\" (a size)");
  EXPECT_EQ(refusal<Bytes>("25 Gbit/s"), "expected a size such as \"64 MiB\", got \"25 Gbit/s\" (a rate)");
  EXPECT_EQ(refusal<Bytes>("2 us"), "expected a size such as \"64 MiB\", got \"2 us\" (a time)");
  EXPECT_EQ(refusal<Seconds>("10 %"), "expected a time such as \"2 us\", got \"10 %\" (a percentage)");
  EXPECT_EQ(refusal<Flop>("9.3 TFLOP/s"),
            "expected an amount of work such as \"7.8 GFLOP\", got \"9.3 TFLOP/s\" (a compute rate)");
  EXPECT_EQ(refusal<FlopPerSecond>("1 GFLOP"),
            "expected a compute rate such as \"9.3 TFLOP/s\", got \"1 GFLOP\" (an amount of work)");
}

TEST(ParseQuantity, RefusesANumberWithoutUnit) {
  EXPECT_EQ(refusal<Seconds>("5"), "expected a time such as \"2 us\", got \"5\" (a number without unit)");
}

TEST(ParseQuantity, RefusesWhatIsNoQuantity) {
  for (const char* text :
       {"",       " ",     "us",    "five s", "+5 s",   " 5 s",    "5  s",  "5 s ", "5 s.", "5 S",   "5,5 s",
        "0x10 s", "5 sec", "nan s", "inf s",  "-inf s", "1e999 s", "--5 s", "5\ts", "5\ns", "5 \xff"}) {
    EXPECT_NE(refusal<Seconds>(text), "(read)") << text;
  }
  EXPECT_EQ(refusal<Seconds>("five s"), "expected a time such as \"2 us\", got \"five s\"");
}

TEST(ParseQuantity, RefusesAProductThatIsNotFinite) {
  EXPECT_NE(refusal<Bytes>("1e308 PiB"), "(read)");
  EXPECT_NE(refusal<Seconds>("1e308 h"), "(read)");
}

// In SI units zero, or from 1e-18 to 1e30; whoever reads a file of any form gets the sign and the range looked at.
TEST(ParseQuantity, RefusesWhatIsNegativeOrNothingInThisWorld) {
  EXPECT_EQ(refusal<Seconds>("-40 us"), "expected a time such as \"2 us\", got \"-40 us\" (negative)");
  EXPECT_EQ(refusal<Seconds>("-0 us"), "expected a time such as \"2 us\", got \"-0 us\" (negative)");
  EXPECT_EQ(refusal<BytesPerSecond>("4.9e-324 B/s"),
            "expected a rate such as \"25 Gbit/s\", got \"4.9e-324 B/s\" (too small)");
  EXPECT_EQ(refusal<Bytes>("1e300 B"), "expected a size such as \"64 MiB\", got \"1e300 B\" (too large)");
  expect_reads("0 s", Seconds(0));
  expect_reads("1e-18 s", Seconds(1e-18));
  expect_reads("1e30 FLOP", Flop(1e30));
  EXPECT_EQ(std::get<UnitMismatch>(parse_fraction("-10 %")).got, "\"-10 %\" (negative)");
}

TEST(ParseQuantity, RefusesPrefixesThatMakeNoSense) {
  for (const char* text : {"5 mB", "5 nB", "5 uB", "5 KB", "5 kiB", "5 kkB"}) EXPECT_NE(refusal<Bytes>(text), "(read)");
  for (const char* text : {"5 ks", "5 Gs", "5 Kis", "5 kmin", "5 mh"}) EXPECT_NE(refusal<Seconds>(text), "(read)");
}

TEST(ParseQuantity, CutsALongTextInItsMessageBetweenCharacters) {
  EXPECT_EQ(refusal<Seconds>(std::string(100, 'x')),
            "expected a time such as \"2 us\", got \"" + std::string(60, 'x') + "...\"");
  EXPECT_EQ(refusal<Seconds>(std::string(59, 'x') + "éé"),
            "expected a time such as \"2 us\", got \"" + std::string(59, 'x') + "...\"");
}

TEST(ParseFraction, WantsAPercentSign) {
  EXPECT_DOUBLE_EQ(std::get<double>(parse_fraction("10 %")), 0.1);
  EXPECT_DOUBLE_EQ(std::get<double>(parse_fraction("12.5%")), 0.125);
  for (const char* text : {"0.1", "10", "%", "10 percent", "10 %%", "inf %", ""}) {
    EXPECT_TRUE(std::holds_alternative<UnitMismatch>(parse_fraction(text))) << text;
  }
  EXPECT_EQ(std::get<UnitMismatch>(parse_fraction("10 s")).got, "\"10 s\" (a time)");
}

TEST(ParseSize, ReadsSizesAsNcclTestsDoes) {
  EXPECT_EQ(std::get<Bytes>(parse_size("8")), 8_B);
  EXPECT_EQ(std::get<Bytes>(parse_size("64K")), 64_KiB);
  EXPECT_EQ(std::get<Bytes>(parse_size("128M")), 128_MiB);
  EXPECT_EQ(std::get<Bytes>(parse_size("1g")), 1_GiB);
  EXPECT_EQ(std::get<Bytes>(parse_size("1.5K")), 1536_B);
  EXPECT_EQ(std::get<Bytes>(parse_size("0")), 0_B);
}

TEST(ParseSize, RefusesWhatIsNoWholeNumberOfBytes) {
  for (const char* text : {"", "-8", "0.5", "8MB", "8 MiB", "8Mi", "M", "inf", "nan", "1e308G", "1e999", "8M8"}) {
    EXPECT_TRUE(std::holds_alternative<UnitMismatch>(parse_size(text))) << text;
  }
}

}}  // namespace farandole::parse_test
