#include "config/document.hpp"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "config/message.hpp"

namespace farandole::document_test { namespace {

int line_of(const Value& value) {
  return value.node().line;
}

TEST(Document, RemembersTheLineOfEveryValue) {
  const auto document = sample("{\n  \"a\": 1,\n  \"b\": [\n    2\n    , {\"c\":\n true}\n  ],\n\n \"d\": \"x\" }\n");
  const auto members = document.root().members();
  EXPECT_EQ(line_of(document.root()), 1);
  EXPECT_EQ(line_of(members[0].second), 2);
  const auto elements = members[1].second.elements();
  EXPECT_EQ(line_of(members[1].second), 3);
  EXPECT_EQ(line_of(elements[0]), 4);
  EXPECT_EQ(line_of(elements[1]), 5);
  EXPECT_EQ(line_of(elements[1].members()[0].second), 6);
  EXPECT_EQ(line_of(members[2].second), 9);
}

TEST(Document, CountsTheLineOfANumberThatEndsItsLine) {
  const auto document = sample("[1\n,2\r\n,\n3\n]");
  const auto elements = document.root().elements();
  EXPECT_EQ(line_of(elements[0]), 1);
  EXPECT_EQ(line_of(elements[1]), 2);
  EXPECT_EQ(line_of(elements[2]), 4);
}

TEST(Document, KeepsMembersInTheOrderOfTheFile) {
  const auto document = sample(R"({"z": 1, "a": 2, "m": 3})");
  std::string order;
  for (const auto& [key, value] : document.root().members()) order += key;
  EXPECT_EQ(order, "zam");
}

TEST(Document, KeepsIntegersOfSixtyFourBitsExact) {
  const auto document = sample("[9223372036854775807, -9223372036854775808, 9223372036854775808]");
  const auto elements = document.root().elements();
  EXPECT_EQ(std::get<std::int64_t>(elements[0].node().value), INT64_MAX);
  EXPECT_EQ(std::get<std::int64_t>(elements[1].node().value), INT64_MIN);
  EXPECT_DOUBLE_EQ(std::get<double>(elements[2].node().value), 9223372036854775808.0);
}

TEST(Document, TellsAnIntegerFromTheSameNumberWithAPoint) {
  const auto document = sample("[1, 1.0, 1e0, -0]");
  const auto elements = document.root().elements();
  EXPECT_TRUE(std::holds_alternative<std::int64_t>(elements[0].node().value));
  EXPECT_TRUE(std::holds_alternative<double>(elements[1].node().value));
  EXPECT_TRUE(std::holds_alternative<double>(elements[2].node().value));
  EXPECT_EQ(std::get<std::int64_t>(elements[3].node().value), 0);
}

TEST(Document, AcceptsAByteOrderMark) {
  EXPECT_EQ(sample("\xEF\xBB\xBF{\"a\": 1}").to_json(), nlohmann::json({{"a", 1}}));
}

TEST(Document, GivesItsValuesBackAsJson) {
  const auto text = R"({"a": [null, true, -1, 2.5, "x\né"], "b": {"c": {}, "d": []}})";
  EXPECT_EQ(sample(text).to_json(), nlohmann::json::parse(text));
}

TEST(Document, IsCopiedWithoutOneOfItsMembers) {
  const auto document = sample("{\"a\": 1,\n\"sweep\": {\"a\": 2}}");
  EXPECT_EQ(document.without("sweep").to_json(), nlohmann::json({{"a", 1}}));
  EXPECT_EQ(document.without("none").to_json(), document.to_json());
  EXPECT_EQ(document.without("a").root().members()[0].second.node().line, 2);
}

TEST(Document, EscapesSlashesAndTildesInPointers) {
  const auto document = sample(R"({"a/b~c": {"": 1}})");
  const auto inner = document.root().members()[0].second;
  EXPECT_EQ(inner.pointer(), "/a~1b~0c");
  EXPECT_EQ(inner.members()[0].second.pointer(), "/a~1b~0c/");
}

TEST(Value, FailsWithItsPlaceAndWhatItIs) {
  const auto document = sample("{\"a\":\n [null, true, -4, 1.0, 0.5, \"x\", [], [1], {}]}");
  const auto elements = document.root().members()[0].second.elements();
  std::string words;
  for (const auto& element : elements) words += element.describe() + "; ";
  EXPECT_EQ(words, "null; true; -4; 1.0; 0.5; \"x\"; an empty array; an array; an object; ");
  EXPECT_EQ(message_of([&] { elements[2].fail("a rate"); }), "s.json:2: /a/2: expected a rate, got -4");
}

TEST(Value, FailsWhereElementsOrMembersAreAskedOfSomethingElse) {
  const auto document = sample("4");
  EXPECT_EQ(message_of([&] { (void)document.root().elements(); }), "s.json:1: /: expected an array, got 4");
  EXPECT_EQ(message_of([&] { (void)document.root().members(); }), "s.json:1: /: expected an object, got 4");
}

TEST(Value, FailsOnAnUnknownNameWithTheNearestKnown) {
  const auto document = sample(R"(["vgg61", 16])");
  const auto elements = document.root().elements();
  EXPECT_EQ(message_of([&] { elements[0].fail_unknown("a model", {"vgg16"}); }),
            "s.json:1: /0: expected a model, got \"vgg61\"; did you mean \"vgg16\"?");
  EXPECT_EQ(message_of([&] { elements[1].fail_unknown("a model", {"vgg16"}); }),
            "s.json:1: /1: expected a model, got 16");
}

}}  // namespace farandole::document_test
