#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "config/message.hpp"
#include "config/section.hpp"

namespace farandole::set_test { namespace {

using nlohmann::json;

constexpr const char* scenario = "{\n\"workload\": {\"model\": \"vgg16\"},\n\"ranks\": [1, 4, {\"a/b~c\": 5}]}";

json after(const std::string& pointer, const std::string& text) {
  auto document = sample(scenario);
  document.set(pointer, text);
  return document.to_json();
}

std::string refusal(const std::string& pointer, const std::string& text = "1") {
  return message_of([&] { after(pointer, text); });
}

TEST(Set, ReplacesAValue) {
  EXPECT_EQ(after("/workload/model", "\"resnet50\"").at("workload").at("model"), "resnet50");
  EXPECT_EQ(after("/ranks/1", "8").at("ranks"), json::parse(R"([1, 8, {"a/b~c": 5}])"));
  EXPECT_EQ(after("/ranks", "[1, {\"a\": null}]").at("ranks"), json::parse(R"([1, {"a": null}])"));
}

TEST(Set, AddsAKeyToAnObjectThatExists) {
  EXPECT_EQ(after("/workload/batch", "64").at("workload").at("batch"), 64);
}

TEST(Set, TakesTextThatIsNoJsonForAString) {
  for (const char* text : {"25 Gbit/s", "resnet50", "", "{", "1e999", "\"open", "NaN"}) {
    EXPECT_EQ(after("/workload/model", text).at("workload").at("model"), text);
  }
}

TEST(Set, ReadsTheEscapesOfJsonPointers) {
  EXPECT_EQ(after("/ranks/2/a~1b~0c", "6").at("ranks").at(2).at("a/b~c"), 6);
  EXPECT_EQ(after("/", "6").at(""), 6);
}

TEST(Set, AppendsToAnArray) {
  EXPECT_EQ(after("/ranks/-", "8").at("ranks").at(3), 8);
  EXPECT_EQ(after("/ranks/3", "8").at("ranks").at(3), 8);
}

TEST(Set, MakesTheObjectsAroundItThatAreNotThere) {
  EXPECT_EQ(after("/measure/bands/x", "2").at("measure"), nlohmann::json::parse(R"({"bands": {"x": 2}})"));
  EXPECT_EQ(after("/measure/bands/x", "2").at("workload"), after("/ranks/0", "1").at("workload"));
}

TEST(Set, RefusesAnIndexThatIsNone) {
  for (const std::string key : {"4", "01", "-1", "x", "99999999999999999999", ""}) {
    EXPECT_EQ(refusal("/ranks/" + key),
              fmt::format("--set: /ranks/{}: expected an index up to 2, got \"{}\"", key, key));
  }
  EXPECT_EQ(refusal("/ranks/-/x"), "--set: /ranks/-/x: expected an index up to 2, got \"-\"");
}

TEST(Set, RefusesToStepIntoAScalar) {
  EXPECT_EQ(refusal("/workload/model/x"),
            "--set: /workload/model/x: expected an object or array that has \"x\", got \"vgg16\"");
}

TEST(Set, RefusesWhatIsNoPointer) {
  EXPECT_EQ(refusal("workload/model"),
            "--set: expected a JSON pointer such as \"/workload/model\", got \"workload/model\"; did you mean "
            "\"/workload/model\"?");
  EXPECT_EQ(refusal(""), "--set: expected a JSON pointer such as \"/workload/model\", got \"\"");
  EXPECT_THAT(refusal("/a~2"), testing::HasSubstr("got \"/a~2\""));
  EXPECT_THAT(refusal("/a~"), testing::HasSubstr("got \"/a~\""));
}

TEST(Set, RefusesTextThatIsNotUtf8) {
  EXPECT_EQ(refusal("/ranks", "\xff"), "--set: /ranks: expected text in UTF-8, got \"\\xff\"");
  EXPECT_THAT(refusal("/\xff"), testing::HasSubstr("expected a JSON pointer"));
}

TEST(Set, NamesItselfAsTheSourceOfAWrongValue) {
  auto document = sample(scenario);
  document.set("/ranks", "[true,\n false]");
  const auto ranks = Section(document.root()).child("ranks");
  EXPECT_EQ(message_of([&] { read<std::vector<int>>(ranks); }), "--set: /ranks/0: expected an integer, got true");
  EXPECT_EQ(document.source(), "s.json");
}

TEST(Set, NamesItselfAsTheSourceOfAnUnknownKey) {
  auto document = sample(R"({"rate": "1 B/s"})");
  document.set("/raet", "2 B/s");
  Section section(document.root());
  (void)section.required<BytesPerSecond>("rate");
  EXPECT_EQ(message_of([&] { section.finish(); }),
            "--set: /raet: expected a known key, got \"raet\"; did you mean \"rate\"?");
}

TEST(Set, KeepsTheLineOfAValueThatComesFromTheFile) {
  auto document = sample("{\"a\": 1,\n\"values\": [\n\"x\"]}");
  const auto value = document.root().members()[1].second.elements()[0];
  document.set("/a", value.node());
  EXPECT_EQ(message_of([&] { document.root().members()[0].second.fail("a number"); }),
            "s.json:3: /a: expected a number, got \"x\"");
}

TEST(Document, LosesAMemberOfAMember) {
  auto document = sample(R"({"a": {"b": {"c": 1, "d": 2}, "c": 3}, "c": 4})");
  document.remove("/a/b/c");
  EXPECT_EQ(document.to_json(), json::parse(R"({"a": {"b": {"d": 2}, "c": 3}, "c": 4})"));
  document.remove("/a/b/none");
  document.remove("/c");
  EXPECT_EQ(document.to_json(), json::parse(R"({"a": {"b": {"d": 2}, "c": 3}})"));
}

TEST(Set, MayReplaceAValueByAPartOfItself) {
  auto document = sample(R"({"a": {"b": {"c": 1}}})");
  document.set("/a", document.root().members()[0].second.members()[0].second.node());
  EXPECT_EQ(document.to_json(), json::parse(R"({"a": {"c": 1}})"));
}

}}  // namespace farandole::set_test
