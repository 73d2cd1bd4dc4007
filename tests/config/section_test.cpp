#include "config/section.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "config/message.hpp"

namespace farandole::section_test { namespace {

/// What reading `text` as a T is refused with.
template <class T>
std::string refusal(const std::string& text) {
  const auto document = sample(text);
  return message_of([&] { (void)read<T>(document.root()); });
}

template <class T>
T reading(const std::string& text) {
  const auto document = sample(text);
  return read<T>(document.root());
}

std::string refused(const std::string& rest) {
  return "s.json:1: /: expected " + rest;
}

TEST(Read, TakesEveryTypeItKnows) {
  EXPECT_TRUE(reading<bool>("true"));
  EXPECT_EQ(reading<int>("-4"), -4);
  EXPECT_EQ(reading<std::int64_t>("5000000000"), 5000000000);
  EXPECT_EQ(reading<double>("1.5"), 1.5);
  EXPECT_EQ(reading<double>("2"), 2.0);
  EXPECT_EQ(reading<std::string>("\"x\""), "x");
  EXPECT_EQ(reading<Fraction>("\"10 %\""), Fraction{0.1});
  EXPECT_EQ(reading<Bytes>("\"64 MiB\""), 64_MiB);
  EXPECT_EQ(reading<Seconds>("\"2 us\""), 2_us);
  EXPECT_EQ(reading<BytesPerSecond>("\"25 Gbit/s\""), 25_Gbps);
  EXPECT_EQ(reading<Flop>("\"7.8 GFLOP\""), 7.8_GFLOP);
  EXPECT_EQ(reading<FlopPerSecond>("\"9.3 TFLOP/s\""), 9.3_TFLOPps);
  EXPECT_EQ(reading<std::vector<int>>("[1, 2]"), (std::vector{1, 2}));
  EXPECT_EQ(reading<std::vector<bool>>("[true, false]"), (std::vector{true, false}));
  EXPECT_EQ(reading<std::vector<Seconds>>("[\"1 s\"]"), std::vector{1_s});
}

TEST(Read, TakesTextsThatSaySomethingAndNamesThatAreSafeAnywhere) {
  EXPECT_EQ(reading<Text>("\" \"").value, " ");
  EXPECT_EQ(refusal<Text>("\"\""), refused("a string that is not empty, got \"\""));
  for (const std::string name : {"a", "7b", "Llama-3.1_8B", "a..b"})
    EXPECT_EQ(reading<Name>('"' + name + '"').value, name);
  for (const std::string name :
       {"", ".", "..", "-x", "a b", "a ", "a/b", "../a", "a\\nb", "\\u202e", "'", "\\u009b", "é"}) {
    EXPECT_THAT(refusal<Name>('"' + name + '"'), testing::HasSubstr("expected a name of letters, digits")) << name;
  }
  EXPECT_EQ(refusal<Name>("4"), refused("a string, got 4"));
}

TEST(Read, TakesNoNumberWithAPointAndNoTruthValueForAnInteger) {
  EXPECT_EQ(refusal<int>("1.0"), refused("an integer, got 1.0"));
  EXPECT_EQ(refusal<int>("true"), refused("an integer, got true"));
  EXPECT_EQ(refusal<int>("\"1\""), refused("an integer, got \"1\""));
  EXPECT_EQ(refusal<int>("null"), refused("an integer, got null"));
}

TEST(Read, RefusesIntegersThatDoNotFit) {
  EXPECT_EQ(refusal<int>("2147483648"), refused("an integer from -2147483648 to 2147483647, got 2147483648"));
  EXPECT_EQ(refusal<std::int64_t>("9223372036854775808"), refused("an integer, got 9.223372036854776e+18"));
}

TEST(Read, TakesNothingElseForTruthNumbersAndStrings) {
  EXPECT_EQ(refusal<bool>("1"), refused("true or false, got 1"));
  EXPECT_EQ(refusal<double>("false"), refused("a number, got false"));
  EXPECT_EQ(refusal<double>("\"1\""), refused("a number, got \"1\""));
  EXPECT_EQ(refusal<std::string>("[]"), refused("a string, got an empty array"));
}

TEST(Read, RefusesAUnitOfAnotherDimension) {
  EXPECT_EQ(refusal<BytesPerSecond>("\"25 GB\""), refused("a rate such as \"25 Gbit/s\", got \"25 GB\" (a size)"));
  EXPECT_EQ(refusal<Seconds>("\"3\""), refused("a time such as \"2 us\", got \"3\" (a number without unit)"));
}

TEST(Read, RefusesAQuantityThatIsNoString) {
  EXPECT_EQ(refusal<Bytes>("25"), refused("a size such as \"64 MiB\", got 25 (a number without unit)"));
  EXPECT_EQ(refusal<Fraction>("0.1"), refused("a percentage such as \"10 %\", got 0.1 (a number without unit)"));
  EXPECT_EQ(refusal<Seconds>("{}"), refused("a time such as \"2 us\", got an object"));
}

TEST(Read, RefusesNegativeQuantities) {
  EXPECT_EQ(refusal<Seconds>("\"-2 us\""), refused("a time such as \"2 us\", got \"-2 us\" (negative)"));
  EXPECT_EQ(refusal<Fraction>("\"-1 %\""), refused("a percentage such as \"10 %\", got \"-1 %\" (negative)"));
  EXPECT_EQ(refusal<Bytes>("\"-0 B\""), refused("a size such as \"64 MiB\", got \"-0 B\" (negative)"));
}

TEST(Read, KeepsMessagesShortAndOnOneLine) {
  const auto message = refusal<Seconds>("\"\\n" + std::string(1'000'000, 'x') + "\"");
  EXPECT_LT(message.size(), 200U);
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Read, NamesTheElementThatIsWrong) {
  EXPECT_EQ(refusal<std::vector<int>>("[1,\n\"x\"]"), "s.json:2: /1: expected an integer, got \"x\"");
  EXPECT_EQ(refusal<std::vector<int>>("1"), refused("an array, got 1"));
}

TEST(ReadAtLeast, RefusesLess) {
  const auto document = sample("0");
  EXPECT_EQ(read_at_least(document.root(), 0), 0);
  EXPECT_EQ(message_of([&] { read_at_least(document.root(), 1); }), refused("an integer of at least 1, got 0"));
}

// The schemas say so, and a number there was meant for another key.
TEST(Section, RefusesCommentsThatAreNoStrings) {
  for (const char* text :
       {R"({"comment": 1})", R"({"$schema": null})", R"({"comment": ["y"]})", R"({"comment": {}})"}) {
    const auto document = sample(text);
    EXPECT_THAT(message_of([&] { Section(document.root()).finish(); }), testing::HasSubstr("expected a string"));
  }
  const auto document = sample(R"({"a": 1, "comment": 1})");
  EXPECT_THAT(message_of([&] { listed_members(document.root()); }), testing::HasSubstr("/comment: expected a string"));
}

TEST(Section, IsAnObject) {
  const auto document = sample("[]");
  EXPECT_EQ(message_of([&] { const Section section(document.root()); }), refused("an object, got an empty array"));
}

TEST(Section, ReadsKeysWithAndWithoutDefaults) {
  const auto document = sample(R"({"rate": "1 B/s", "ranks": 4})");
  Section section(document.root());
  EXPECT_EQ(section.required<BytesPerSecond>("rate"), 1_Bps);
  EXPECT_EQ(section.optional<int>("ranks", 1), 4);
  EXPECT_EQ(section.optional<Seconds>("latency", 2_us), 2_us);
  EXPECT_EQ(section.maybe_read<int>("seed"), std::nullopt);
  EXPECT_EQ(section.maybe("seed"), std::nullopt);
  EXPECT_NO_THROW(section.finish());
}

TEST(Section, StillChecksTheTypeOfAKeyWithADefault) {
  const auto document = sample(R"({"ranks": null})");
  Section section(document.root());
  EXPECT_EQ(message_of([&] { section.optional<int>("ranks", 1); }), "s.json:1: /ranks: expected an integer, got null");
}

TEST(Section, NamesTheKeyThatIsMissing) {
  const auto document = sample("{\"a\":\n{}}");
  Section section(document.root().members()[0].second);
  EXPECT_EQ(message_of([&] { (void)section.child("rate"); }),
            "s.json:2: /a: expected a key \"rate\", got an object without it");
}

TEST(Section, PointsToAMisspeltKeyRatherThanToTheMissingOne) {
  const auto document = sample("{\n\"latency\": 1,\n\"raet\": 1}");
  Section section(document.root());
  EXPECT_EQ(message_of([&] { (void)section.child("rate"); }),
            "s.json:3: /raet: expected a key \"rate\", got \"raet\"; did you mean \"rate\"?");
}

TEST(Section, RefusesAKeyNobodyAskedFor) {
  const auto document = sample("{\"rate\": 1,\n\"latecny\": 2}");
  Section section(document.root());
  (void)section.child("rate");
  (void)section.maybe("latency");
  EXPECT_EQ(message_of([&] { section.finish(); }),
            "s.json:2: /latecny: expected a known key, got \"latecny\"; did you mean \"latency\"?");
}

TEST(Section, ListsItsKeysWhereNoneIsNear) {
  const auto document = sample("{\"x/y\": 1}");
  Section section(document.root());
  (void)section.maybe("rate");
  (void)section.maybe("rate");
  (void)section.maybe("latency");
  EXPECT_EQ(message_of([&] { section.finish(); }),
            "s.json:1: /x~1y: expected a known key, got \"x/y\"; known: rate, latency");
}

TEST(Section, AllowsSchemaAndCommentEverywhere) {
  const auto document = sample(R"({"$schema": "x", "comment": "y"})");
  EXPECT_NO_THROW(Section(document.root()).finish());
}

}}  // namespace farandole::section_test
