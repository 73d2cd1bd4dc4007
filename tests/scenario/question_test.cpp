// The question of a study is about values that its sweep has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/point_parts.hpp"
#include "scenario/scenario_kit.hpp"

namespace farandole::question_test { namespace {

using testing::HasSubstr;

std::optional<Question> question_of(const std::string& text) {
  const Document document =
      test::changed({{"/sweep", R"({"/platform/ranks": [4, 16], "/strategy/fusion_threshold": ["1 MiB", "64 MiB"]})"},
                     {"/question", text}});
  return read_question(document, expand_sweep(document));
}

std::string refusal_of(const std::string& text) {
  try {
    question_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Question, IsReadWithItsValuesAsResultsSayThem) {
  const auto question =
      question_of(R"({"ask": "Do more ranks help?", "from": {"/platform/ranks": 4}, "to": {"/platform/ranks": 16}})");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->ask, "Do more ranks help?");
  EXPECT_EQ(question->from.front().value, "4");
  EXPECT_EQ(question->to.front().value, "16");
}

TEST(Question, IsNoneWhereNothingIsAsked) {
  const Document document = test::changed({});
  EXPECT_FALSE(read_question(document, expand_sweep(document)));
}

TEST(Question, AboutAValueThatIsNotSweptIsRefused) {
  EXPECT_THAT(refusal_of(R"({"ask": "?", "from": {"/platform/ranks": 4}, "to": {"/platform/ranks": 32}})"),
              HasSubstr("/question/to/~1platform~1ranks: expected a value that \"sweep\" puts there, got 32"));
}

TEST(Question, AboutTwoDifferentPointersIsRefused) {
  EXPECT_THAT(
      refusal_of(R"({"ask": "?", "from": {"/platform/ranks": 4}, "to": {"/strategy/fusion_threshold": "1 MiB"}})"),
      HasSubstr("/question/to: expected the same pointers as in \"from\""));
}

}}  // namespace farandole::question_test
