// Configurations written in YAML, read as trees like those of JSON.
#include <ctime>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "config/text.hpp"

namespace farandole::yaml_test { namespace {

using testing::HasSubstr;

std::string json(const std::string& yaml) {
  return to_json(parse_yaml(yaml, "test.yaml")).dump();
}

std::string error(const std::string& yaml) {
  try {
    parse_yaml(yaml, "test.yaml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Yaml, ReadsMappingsSequencesAndScalars) {
  EXPECT_EQ(json("a:\n  b: 1\n  c: [x, 2, true]\nd:\n- 1.5\n- e: f\n  g: h\n- - 1\ni:\n  - j\n"),
            R"({"a":{"b":1,"c":["x",2,true]},"d":[1.5,{"e":"f","g":"h"},[1]],"i":["j"]})");
}

TEST(Yaml, ReadsScalarsAsYamlHasThem) {
  EXPECT_EQ(
      json("a: no\nb: 'no'\nc: \"1\"\nd: 5e8\ne:\nf: ~\ng: {}\nh: []\ni: a b # c\nj: a#b\nk: http://x:1\n"),
      R"({"a":false,"b":"no","c":"1","d":500000000.0,"e":null,"f":null,"g":{},"h":[],"i":"a b","j":"a#b","k":"http://x:1"})");
}

TEST(Yaml, KnowsTheLineOfEveryValue) {
  const Node root = parse_yaml("# first\n---\na:\n\n  b: 1\n", "test.yaml");
  EXPECT_EQ(Value(root, "").members().at(0).second.members().at(0).second.place().line, 5);
}

// 60,000 keys, each with a sequence at its own indentation. Looking through all keys, or all lines, for each of them
// takes seconds; a file may have a hundred times as many.
TEST(Yaml, OfManyKeysIsReadInTheTimeThatItsLinesTake) {
  constexpr std::size_t keys = 60'000;
  std::string text;
  for (std::size_t i = 0; i < keys; ++i) text += fmt::format("a key with the number {}:\n- {}\n", i, i);
  const std::clock_t begin = std::clock();
  const Node tree = parse_yaml(text, "c.yaml");
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);  // seconds of the processor
  EXPECT_EQ(std::get<Node::Object>(tree.value).size(), keys);
}

TEST(Yaml, RefusesTheRestOfItWithItsLine) {
  EXPECT_THAT(error("a: 1\nb: &x 2\n"), HasSubstr("test.yaml:2"));
  EXPECT_THAT(error("a: |\n  text\n"), HasSubstr("test.yaml:1"));
  EXPECT_THAT(error("a: {b: 1}\n"), HasSubstr("expected a plain value"));
  EXPECT_THAT(error("a: 1\n   b: 2\n"), HasSubstr("test.yaml:2"));
  EXPECT_THAT(error("a: 1\na: 2\n"), HasSubstr("every key once"));
  EXPECT_THAT(error("\ta: 1\n"), HasSubstr("a tab"));
  EXPECT_THAT(error("a: 1\n---\nb: 2\n"), HasSubstr("one YAML document"));
  EXPECT_THAT(error("a: [1\n"), HasSubstr("ends on its line"));
  EXPECT_THAT(error("just text\n"), HasSubstr("KEY: VALUE"));
}

RC_GTEST_PROP(Yaml, ReadsOrRefusesWhateverItIsGiven, (const std::vector<unsigned char>& bytes)) {
  static const std::string alphabet = "a:- \n[]{}'\"#,1\t&";
  std::string text;
  for (const unsigned char byte : bytes) text += alphabet[byte % alphabet.size()];
  error(text);  // no crash, and no other exception
}

}}  // namespace farandole::yaml_test
