// The commands of tools/runbooks/ are ones that the program understands, and their job scripts ones that bash does.
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test {
namespace {

struct Block {
  std::string file;
  std::string text;
};

std::vector<Block> shell_blocks() {
  static const std::regex fence("```sh\n([^`]*)```");
  std::vector<Block> blocks;
  for (const auto& entry : std::filesystem::directory_iterator(FARANDOLE_SOURCE_DIR "/tools/runbooks")) {
    const std::string text = contents(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), fence), end; found != end; ++found) {
      blocks.push_back({entry.path().filename(), (*found)[1]});
    }
  }
  return blocks;
}

/// Continued lines as one, comments left out.
std::vector<std::string> lines_of(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\\\n\s*)"), " ");
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

/// What follows "farandole COMMAND", or "launch" and its numbers, which stands for `farandole bench` with options.
struct Call {
  std::string command;
  std::string arguments;
};

std::vector<Call> calls_of(const Block& block) {
  static const std::regex program(R"(build/release/farandole (\w+)(.*))");
  static const std::regex launch(R"(^\s*launch( .*))");
  std::vector<Call> calls;
  for (const std::string& line : lines_of(block.text)) {
    std::smatch match;
    if (std::regex_search(line, match, program)) calls.push_back({match[1], match[2]});
    if (std::regex_search(line, match, launch)) calls.push_back({"bench", match[1]});
  }
  return calls;
}

std::vector<std::string> options_of(const std::string& arguments) {
  static const std::regex option(R"( (--[a-z][a-z_-]*|-[a-z])(?= |=|$))");
  std::vector<std::string> options;
  for (std::sregex_iterator found(arguments.begin(), arguments.end(), option), end; found != end; ++found) {
    options.push_back((*found)[1]);
  }
  return options;
}

/// An option of the help text: "  --format FORMAT" or "  -b,--minbytes SIZE".
bool is_known(const std::string& option, const std::string& help) {
  return std::regex_search(help, std::regex("[ ,]" + option + "[ ,=\n]"));
}

TEST(Runbooks, NameOnlyCommandsAndOptionsThatThereAre) {
  const Workplace place;
  int tried = 0;
  for (const Block& block : shell_blocks()) {
    for (const Call& call : calls_of(block)) {
      const Finished help = place.farandole(call.command + " --help");
      EXPECT_EQ(help.status, 0) << block.file << ": " << call.command;
      for (const std::string& option : options_of(call.arguments)) {
        EXPECT_TRUE(is_known(option, help.out)) << block.file << ": " << call.command << " " << option;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 100);
}

TEST(Runbooks, NameOnlyOperationsAndAlgorithmsThatThereAre) {
  static const std::regex pair(R"(--op (\w+) --algorithm (\w+))");
  const Workplace place;
  std::set<std::pair<std::string, std::string>> known;
  const auto shown = nlohmann::json::parse(place.farandole("show algorithms --format json").out);
  for (const auto& row : shown.at("algorithms")) known.emplace(row.at("op"), row.at("name"));
  ASSERT_FALSE(known.empty());
  for (const Block& block : shell_blocks()) {
    for (const Call& call : calls_of(block)) {
      std::smatch match;
      if (!std::regex_search(call.arguments, match, pair) || match[2] == "library" || match[2].str().empty()) continue;
      EXPECT_TRUE(known.contains({match[1], match[2]})) << block.file << ": " << match[0];
    }
  }
}

TEST(Runbooks, HaveScriptsThatBashUnderstands) {
  const Workplace place;
  const auto blocks = shell_blocks();
  ASSERT_GT(blocks.size(), 10U);
  for (const Block& block : blocks) {
    place.write("block.sh", block.text);
    EXPECT_EQ(place.run("bash -n block.sh").status, 0) << block.file << ":\n" << block.text;
  }
}

TEST(Runbooks, NameOnlyFilesThatThereAre) {
  static const std::regex file(R"((scenarios/[\w-]+\.json)|--topology ([\w-]+) )");
  for (const Block& block : shell_blocks()) {
    for (std::sregex_iterator found(block.text.begin(), block.text.end(), file), end; found != end; ++found) {
      const std::string named = (*found)[1].matched ? (*found)[1].str() : "topologies/" + (*found)[2].str() + ".json";
      EXPECT_TRUE(std::filesystem::exists(std::string(FARANDOLE_SOURCE_DIR) + "/" + named))
          << block.file << ": " << named;
    }
  }
}

}  // namespace
}  // namespace farandole::test
