#include <string>

#include <gmock/gmock.h>

#include "config/message.hpp"

namespace farandole::syntax_test { namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Document, RefusesAnEmptyText) {
  EXPECT_EQ(message_of_parsing(""), "s.json:1: /: expected a JSON value, got nothing");
  EXPECT_EQ(message_of_parsing(" \n\n"), "s.json:1: /: expected a JSON value, got nothing");
}

TEST(Document, RefusesADuplicateKeyAndNamesItsLine) {
  EXPECT_EQ(message_of_parsing("{\"link\": {\n\"rate\": 1,\n\"latency\": 2,\n\"rate\": 3}}"),
            "s.json:4: /link/rate: expected every key once, got \"rate\" again (first on line 2)");
}

TEST(Document, RefusesADuplicateKeyWrittenWithAnEscape) {
  EXPECT_THAT(message_of_parsing(R"({"a": 1, "\u0061": 2})"), HasSubstr("\"a\" again"));
}

TEST(Document, AcceptsTheSameKeyInTwoObjects) {
  EXPECT_EQ(message_of_parsing(R"([{"a": 1}, {"a": {"a": 1}}])"), "(no error)");
}

TEST(Document, RefusesWhatFollowsTheDocument) {
  EXPECT_EQ(message_of_parsing("{}\n{}"), "s.json:2: /: expected the end of the text, got \"{\"");
  EXPECT_EQ(message_of_parsing("{}\n\ngarbage"), "s.json:3: /: expected the end of the text, got \"garbage\"");
}

TEST(Document, SaysWhatIsMissingBetweenValues) {
  EXPECT_EQ(message_of_parsing("{\"a\": [1\n2]}"), "s.json:2: /a: expected ',' or ']', got \"2\"");
  EXPECT_EQ(message_of_parsing("{\"a\": 1\n\"b\": 2}"), "s.json:2: /: expected ',' or '}', got \"b\"");
  EXPECT_EQ(message_of_parsing("{\"a\" 1}"), "s.json:1: /a: expected ':' after the key, got \"1\"");
}

TEST(Document, RefusesATrailingComma) {
  EXPECT_EQ(message_of_parsing("{\"a\": 1,\n}"), "s.json:2: /: expected a key in double quotes, got \"}\"");
  EXPECT_EQ(message_of_parsing("[1,\n]"), "s.json:2: /1: expected a JSON value, got \"]\"");
}

TEST(Document, RefusesAKeyWithoutQuotes) {
  EXPECT_EQ(message_of_parsing("{rate: 1}"), "s.json:1: /: expected a key in double quotes, got \"rate\"");
}

TEST(Document, SaysThatTheTextEndsTooSoon) {
  EXPECT_EQ(message_of_parsing("{\"a\": [1,\n 2"), "s.json:2: /a: expected ',' or ']', got the end of the text");
  EXPECT_EQ(message_of_parsing("{\"a\":\n"), "s.json:1: /a: expected a JSON value, got the end of the text");
}

TEST(Document, RefusesNumbersThatAreNotFinite) {
  EXPECT_EQ(message_of_parsing("{\"a\": NaN}"), "s.json:1: /a: expected a finite number, got \"NaN\"");
  EXPECT_EQ(message_of_parsing("{\"a\": -Infinity}"), "s.json:1: /a: expected a finite number, got \"-Infinity\"");
  EXPECT_EQ(message_of_parsing("[0,\n1e999]"), "s.json:2: /1: expected a finite number, got \"1e999\"");
  EXPECT_THAT(message_of_parsing(std::string(100'000, '9')), HasSubstr("expected a finite number, got \"9999"));
}

TEST(Document, RefusesNumbersJsonDoesNotHave) {
  EXPECT_EQ(message_of_parsing("[1.x]"), "s.json:1: /0: expected a JSON value, got \"1.x\"");
  EXPECT_EQ(message_of_parsing("[0x10]"), "s.json:1: /: expected ',' or ']', got \"0x10\"");
}

TEST(Document, RefusesWordsThatAreNearlyLiterals) {
  EXPECT_EQ(message_of_parsing("[True]"), "s.json:1: /0: expected a JSON value, got \"True\"");
  EXPECT_EQ(message_of_parsing("[tru]"), "s.json:1: /0: expected a JSON value, got \"tru\"");
}

TEST(Document, PointsToACommentAndWhereCommentsGo) {
  EXPECT_EQ(message_of_parsing("{\n// note\n}"),
            "s.json:2: /: expected a key in double quotes, got a comment (JSON has none; write a \"comment\" key)");
}

TEST(Document, NamesWhatIsWrongInsideAString) {
  EXPECT_THAT(message_of_parsing("{\"a\": \"x\ny\"}"), HasSubstr("/a: expected a JSON value, got a line break inside"));
  EXPECT_THAT(message_of_parsing("[\"x"), HasSubstr("got a string without its closing quote"));
  EXPECT_THAT(message_of_parsing("[\"\\q\"]"), HasSubstr("got an escape that JSON does not have"));
  EXPECT_THAT(message_of_parsing("[\"\x01\"]"), HasSubstr("got a control character inside a string"));
  EXPECT_THAT(message_of_parsing("[\"\\ud800\"]"), HasSubstr("got half of a surrogate pair"));
}

TEST(Document, RefusesBytesThatAreNotUtf8) {
  EXPECT_EQ(message_of_parsing("[\n\"\xff\"]"), "s.json:2: /0: expected a JSON value, got bytes that are not UTF-8");
  EXPECT_EQ(message_of_parsing("\xEF\xBB{}"), "s.json:1: /: expected a JSON value, got bytes that are not UTF-8");
  EXPECT_EQ(message_of_parsing("\xff\xfe"), "s.json:1: /: expected a JSON value, got \"\\xff\"");
}

TEST(Document, RefusesAZeroByteEvenAfterTheDocument) {
  EXPECT_EQ(message_of_parsing(std::string("{}\n\0{", 5)), "s.json:2: /: expected JSON text in UTF-8, got a zero byte");
}

TEST(Document, AllowsSixtyFourLevelsAndNoMore) {
  const std::string open(64, '[');
  EXPECT_EQ(message_of_parsing(open + std::string(64, ']')), "(no error)");
  EXPECT_THAT(message_of_parsing(open + "[" + std::string(65, ']')),
              HasSubstr(": expected at most 64 levels of nesting, got more"));
  std::string pointer;
  for (int level = 0; level < 64; ++level) pointer += "/0";
  EXPECT_THAT(message_of_parsing(open + "["), StartsWith("s.json:1: " + pointer + ": expected"));
}

TEST(Document, RefusesTenMegabytesOfBracketsAtOnce) {
  std::string brackets;
  brackets.resize(10'000'000, '[');
  EXPECT_THAT(message_of_parsing(brackets), StartsWith("s.json:1: /0/0/0"));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_THAT(message_of_parsing(objects), HasSubstr("at most 64 levels"));
}

TEST(Document, KeepsMessagesShortForLongTexts) {
  const std::string longest(1'000'000, 'x');
  EXPECT_LT(message_of_parsing("[" + longest + "]").size(), 200U);
  EXPECT_LT(message_of_parsing("{\"" + longest + "\": 1}").size(), 200U);
  EXPECT_LT(message_of_parsing("[\"a\" \"" + longest + "\"]").size(), 200U);
}

// 60 MB of brackets took 3.7 GB: what a value takes does not depend on how short it is.
TEST(Document, RefusesMoreThanFourMillionValues) {
  std::string most = "[1";
  for (int value = 2; value < (1 << 22); ++value) most += ",1";
  EXPECT_EQ(message_of_parsing(most + "]"), "(no error)");
  EXPECT_THAT(message_of_parsing(most + ",1]"), HasSubstr("s.json:1: /: expected at most 4,194,304 values, got more"));
}

}}  // namespace farandole::syntax_test
