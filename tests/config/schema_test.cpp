#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "config/document.hpp"
#include "config/message.hpp"

namespace farandole::schema_test { namespace {

namespace fs = std::filesystem;

constexpr const char* link_schema = R"({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "definitions": {
    "rate": {"type": "string", "pattern": "^[0-9.]+ [kMG]?bit/s$", "examples": ["25 Gbit/s"]},
    "link": {
      "type": "object",
      "properties": {
        "rate": {"$ref": "#/definitions/rate"},
        "kind": {"enum": ["copper", "fibre"]},
        "lanes": {"type": "integer", "minimum": 1},
        "names": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "load": {"type": ["number", "null"], "maximum": 0.5}
      },
      "required": ["rate"],
      "additionalProperties": false
    }
  },
  "type": "object",
  "properties": {"comment": {}, "links": {"type": "array", "items": {"$ref": "#/definitions/link"}}},
  "patternProperties": {"^x-": {"type": "integer"}},
  "additionalProperties": {"$ref": "#/definitions/link"}
})";

class Schema : public testing::Test {
 protected:
  Schema() : file_(fs::path(testing::TempDir()) / ("farandole_schema_" + std::to_string(::getpid()) + ".json")) {
    use(link_schema);
  }
  ~Schema() override { fs::remove(file_); }

  void use(const std::string& schema) const { std::ofstream(file_) << schema; }
  [[nodiscard]] const fs::path& file() const { return file_; }
  [[nodiscard]] std::string verdict(const std::string& text) const {
    const auto document = sample(text);
    return message_of([&] { check_schema(document, file_); });
  }

 private:
  fs::path file_;
};

TEST_F(Schema, PassesAGoodDocument) {
  EXPECT_EQ(verdict(R"({"links": [{"rate": "25 Gbit/s", "kind": "fibre", "lanes": 4, "load": null}], "x-a": 1})"),
            "(no error)");
}

TEST_F(Schema, NamesTheTypeThatIsExpected) {
  EXPECT_EQ(verdict("[]"), "s.json:1: /: expected an object, got an empty array");
  EXPECT_EQ(verdict("{\"links\": [\n{\"rate\": 4}]}"), "s.json:2: /links/0/rate: expected a string, got 4");
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\", \"load\": \"x\"}]}"),
            "s.json:1: /links/0/load: expected a number or null, got \"x\"");
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\",\n\"lanes\":\n1.5}]}"),
            "s.json:3: /links/0/lanes: expected an integer, got 1.5");
}

TEST_F(Schema, ShowsAnExampleWhereAPatternDoesNotMatch) {
  EXPECT_EQ(verdict("{\"links\": [\n{\"rate\": \"25 GB\"}]}"),
            "s.json:2: /links/0/rate: expected a text such as \"25 Gbit/s\", got \"25 GB\"");
}

TEST_F(Schema, NamesTheNearestOfTheAllowedValues) {
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\", \"kind\": \"fiber\"}]}"),
            "s.json:1: /links/0/kind: expected one of the schema's values, got \"fiber\"; did you mean \"fibre\"?");
}

TEST_F(Schema, NamesAMissingKey) {
  EXPECT_EQ(verdict("{\"links\": [\n{}]}"), "s.json:2: /links/0: expected a key \"rate\", got an object without it");
}

TEST_F(Schema, NamesAnUnknownKeyAndTheNearestKnown) {
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\",\n\"lane\": 4}]}"),
            "s.json:2: /links/0/lane: expected a known key, got \"lane\"; did you mean \"lanes\"?");
}

TEST_F(Schema, NamesTheBoundOfANumber) {
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\", \"lanes\": 0}]}"),
            "s.json:1: /links/0/lanes: expected a number greater than or equal to 1, got 0");
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\", \"load\": 0.6}]}"),
            "s.json:1: /links/0/load: expected a number less than or equal to 0.5, got 0.6");
}

TEST_F(Schema, FollowsAdditionalProperties) {
  EXPECT_EQ(verdict("{\"a/b\": {\n\"rate\": 4}}"), "s.json:2: /a~1b/rate: expected a string, got 4");
}

TEST_F(Schema, RepeatsTheValidatorWhereItHasNoBetterWords) {
  EXPECT_EQ(verdict("{\"links\": [{\"rate\": \"1 bit/s\", \"names\": [\"a\", \"b\", \"c\"]}]}"),
            "s.json:1: /links/0/names: expected what the schema allows (array should contain no more than 2 elements), "
            "got an array");
  EXPECT_THAT(verdict("{\"x-a\": \"b\"}"), testing::StartsWith("s.json:1: /x-a: expected"));
}

TEST_F(Schema, SurvivesTextsTooLongForTheRegularExpressions) {
  const std::string longest(5'000'000, '1');
  EXPECT_THAT(verdict("{\"links\": [{\"rate\": \"" + longest + "\"}]}"),
              testing::StartsWith("s.json:1: /links/0/rate: expected a text such as \"25 Gbit/s\", got \"111"));
  EXPECT_EQ(verdict("{\"comment\": \"" + longest + "\"}"), "(no error)");
}

TEST_F(Schema, ThatIsMissingOrBrokenIsAnErrorOfItsOwn) {
  use("{\"properties\": 4}");
  EXPECT_THAT(verdict("{}"), testing::StartsWith(file().string() + ":1: /: expected a JSON Schema, got \""));
  use("{\"properties\": {\"a\": {\"pattern\": \"(\"}}}");
  EXPECT_THAT(verdict("{\"a\": \"b\"}"),
              testing::StartsWith(file().string() + ":1: /: expected a JSON Schema, got \""));
  use("{");
  EXPECT_THAT(verdict("{}"), testing::StartsWith(file().string() + ":1: /: expected a key in double quotes"));
}

}}  // namespace farandole::schema_test
