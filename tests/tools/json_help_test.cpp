// farandole --json-help: what its schema says, with every command and option that --help lists.
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/document.hpp"
#include "config/message.hpp"
#include "tools/process.hpp"

namespace farandole::json_help_test { namespace {

using nlohmann::json;
using test::Workplace;

/// The options of one text of help, without the short names.
std::set<std::string> long_names(const std::string& help) {
  static const std::regex option(R"((?:^|\n)  ((?:--?[\w-]+,?)+))");
  static const std::regex long_name(R"(--[\w-]+)");
  std::set<std::string> names;
  for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found) {
    const std::string all = (*found)[1];
    for (std::sregex_iterator name(all.begin(), all.end(), long_name); name != end; ++name) names.insert(name->str());
  }
  return names;
}

std::set<std::string> long_names(const json& options) {
  std::set<std::string> names;
  for (const json& option : options) {
    for (const std::string name : option.at("names"))
      if (name.starts_with("--")) names.insert(name);
  }
  return names;
}

TEST(JsonHelp, IsWhatItsSchemaSays) {
  const auto finished = Workplace().farandole("--json-help");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  const auto schema = std::filesystem::path(FARANDOLE_SOURCE_DIR) / "sim/config/schemas/help.schema.json";
  const auto refusal = [&](const std::string& text) { return message_of([&] { check_schema(sample(text), schema); }); };
  EXPECT_EQ(refusal(finished.out), "(no error)");
  json wrong = json::parse(finished.out);
  wrong["commands"][0].erase("summary");
  EXPECT_NE(refusal(wrong.dump()), "(no error)");
}

TEST(JsonHelp, HasEveryCommandAndOptionOfTheHelp) {
  const Workplace workplace;
  const json told = json::parse(workplace.farandole("--json-help").out);
  EXPECT_EQ(long_names(told.at("options")), long_names(workplace.farandole("--help").out));
  EXPECT_GT(told.at("commands").size(), 10U);
  for (const json& command : told.at("commands")) {
    const std::string name = command.at("name");
    const std::string help = workplace.farandole(name + " --help").out;
    EXPECT_EQ(long_names(command.at("options")), long_names(help)) << name;
    EXPECT_THAT(help, testing::HasSubstr("Usage: " + command.at("usage").get<std::string>())) << name;
    EXPECT_THAT(help, testing::HasSubstr(command.at("more").get<std::string>())) << name;
  }
}

}}  // namespace farandole::json_help_test
