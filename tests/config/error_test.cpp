#include "config/error.hpp"

#include <gmock/gmock.h>

#include "config/text.hpp"

namespace farandole::error_test { namespace {

TEST(InputError, SaysFileLinePointerExpectedAndGot) {
  const InputError error(Place{"a.json", 7, "/link/rate"}, "a rate", "4", "; did you mean \"latency\"?");
  EXPECT_STREQ(error.what(), "a.json:7: /link/rate: expected a rate, got 4; did you mean \"latency\"?");
}

TEST(InputError, PrintsTheRootAsASlashAndOmitsALineThatIsNone) {
  EXPECT_STREQ(InputError(Place{"--set", 0, ""}, "an object", "4").what(), "--set: /: expected an object, got 4");
}

TEST(InputError, StaysOnOneLineWhateverTheInputHolds) {
  const InputError error(Place{"a\nb.json", 1, "/x\r\ny"}, "a\x1b[2Jz", std::string("\0", 1));
  EXPECT_STREQ(error.what(), "a\\nb.json:1: /x\\r\\ny: expected a\\x1b[2Jz, got \\x00");
}

TEST(InputError, KeepsTheEndOfALongMessageWhichSaysWhatIsWrong) {
  const std::string said = InputError("cannot write " + std::string(5000, 'y') + "é: File name too long").what();
  EXPECT_LT(said.size(), 1000U);
  EXPECT_TRUE(said.starts_with("cannot write yyy"));
  EXPECT_TRUE(said.ends_with("yyé: File name too long"));
  const std::string many = "x" + std::string(1200, 'z');
  EXPECT_NE(std::string(InputError(many).what()), many);
  std::string wide;  // 500 characters of two bytes: nothing is left out, nothing said twice
  for (int i = 0; i < 510; ++i) wide += "é";
  EXPECT_EQ(std::string(InputError(wide).what()), wide);
}

TEST(InputError, CutsALongPointer) {
  const InputError error(Place{"a.json", 1, "/" + std::string(100000, 'x')}, "a", "b");
  EXPECT_LT(std::string(error.what()).size(), 300U);
}

TEST(Quoted, EscapesControlCharactersAndCutsAtSixtyCharacters) {
  EXPECT_EQ(quoted("25 GB"), "\"25 GB\"");
  EXPECT_EQ(quoted("a\tb\n"), "\"a\\tb\\n\"");
  EXPECT_EQ(quoted(std::string(60, 'x')), "\"" + std::string(60, 'x') + "\"");
  EXPECT_EQ(quoted(std::string(61, 'x')), "\"" + std::string(60, 'x') + "...\"");
}

TEST(Quoted, KeepsUtf8WholeAndShowsOtherBytesAsEscapes) {
  std::string accents;
  for (int i = 0; i < 70; ++i) accents += "é";
  EXPECT_EQ(quoted(accents), "\"" + accents.substr(0, 120) + "...\"");
  EXPECT_EQ(quoted("\xff\xc3"), "\"\\xff\\xc3\"");
  EXPECT_EQ(quoted("\xc2\x9b"), "\"\\xc2\\x9b\"");  // a terminal takes U+009B for the start of an escape sequence
}

TEST(Text, KnowsUtf8FromOverlongFormsSurrogatesAndStrayBytes) {
  EXPECT_TRUE(is_utf8("µs \xf0\x9f\x92\x83"));
  for (const char* bad :
       {"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x92", "\xff"}) {
    EXPECT_FALSE(is_utf8(bad)) << one_line(bad, 10);
  }
}

TEST(Suggestion, NamesTheNearestKnownNameWithinAThirdOfTheLength) {
  const std::vector<std::string> models{"resnet50", "resnet101", "vgg16", "inception_v3"};
  EXPECT_EQ(suggestion("vgg61", models), "; did you mean \"vgg16\"?");
  EXPECT_EQ(suggestion("resnet5", models), "; did you mean \"resnet50\"?");
  EXPECT_EQ(suggestion("inceptionv3", models), "; did you mean \"inception_v3\"?");
}

TEST(Suggestion, CountsASwapOfNeighboursAsOneSlip) {
  EXPECT_EQ(suggestion("nig", {"ing"}), "; did you mean \"ing\"?");
  EXPECT_EQ(suggestion("gni", {"ing"}), "; known: ing");
}

TEST(Suggestion, ListsWhatIsKnownWhereNothingIsNear) {
  EXPECT_EQ(suggestion("bert", {"vgg16", "resnet50"}), "; known: vgg16, resnet50");
  EXPECT_EQ(suggestion("", {"vgg16"}), "; known: vgg16");
  EXPECT_EQ(suggestion("bert", {}), "");
}

TEST(Suggestion, ListsNoMoreThanTwelveNames) {
  std::vector<std::string> names(13);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = "name" + std::to_string(i);
  EXPECT_THAT(suggestion("zzz", names), testing::EndsWith("name11, ..."));
}

TEST(Suggestion, IsQuickForANameOfMegabytes) {
  EXPECT_EQ(suggestion(std::string(5'000'000, 'x'), {"vgg16"}), "; known: vgg16");
}

}}  // namespace farandole::error_test
