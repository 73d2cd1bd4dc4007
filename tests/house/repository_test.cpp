// What a newcomer meets: a README in each folder, scripts that stop at the first failure, tests that all run.
#include <algorithm>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "house/source_tree.hpp"

namespace house::repository_test { namespace {

using testing::IsEmpty;

std::vector<Path> scripts() {
  std::vector<Path> found;
  for (const Path& file : files_under(".")) {
    if (lines_of(file).empty() || file.extension() == ".py") continue;
    const std::string first = lines_of(file).front();
    if (first.starts_with("#!") && first.find("bash") != first.npos) found.push_back(file);
  }
  return found;
}

/// The folder of tests/ that holds the file.
std::string room_of(const Path& file) {
  return std::next(file.begin())->string();
}

bool is_word_of(const std::string& word, const std::string& text) {
  return std::regex_search(text, std::regex("(^|[^A-Za-z_])" + word + "($|[^A-Za-z_])"));
}

std::string without_comments(const std::vector<std::string>& cmake_lines) {
  std::string text;
  for (const auto& line : cmake_lines) text += line.substr(0, line.find('#')) + "\n";
  return text;
}

TEST(Repository, EveryFolderHasAReadme) {
  Violations missing;
  for (const char* folder : {"sim", "models", "topologies", "scenarios", "tools", "tests"}) {
    if (!is_there(Path(folder) / "README.md")) missing.emplace_back(folder);
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(Repository, CarriesItsLicenceItsHistoryAndHowToContribute) {
  EXPECT_THAT(text_of("LICENSE"), testing::HasSubstr("Apache License"));
  EXPECT_THAT(text_of("CHANGELOG.md"), testing::HasSubstr("## [0.1.0]"));
  EXPECT_TRUE(is_there("CONTRIBUTING.md"));
}

TEST(Repository, EveryTestFileBelongsToARoomThatCMakeLists) {
  const std::string listed = without_comments(lines_of("tests/CMakeLists.txt"));
  Violations forgotten;
  for (const Path& file : files_under("tests", {".cpp"})) {
    if (!is_word_of(room_of(file), listed)) forgotten.push_back(file.string());
  }
  EXPECT_THAT(forgotten, IsEmpty());
}

TEST(Repository, NamesNoPlaceOutsideItself) {
  const std::vector<std::string> places = {std::string("/work") + "/", std::string("../") + "shared"};
  Violations violations;
  for (const Path& file : files_under(".")) {
    const auto lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto names = [&](const auto& place) { return lines[i].find(place) != std::string::npos; };
      if (std::ranges::any_of(places, names)) violations.push_back(violation(file, i, lines[i].substr(0, 120)));
    }
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(Repository, EveryShellScriptStopsAtTheFirstFailure) {
  Violations violations;
  for (const Path& file : scripts()) {
    if (text_of(file).find("\nset -euo pipefail\n") == std::string::npos) violations.push_back(file.string());
  }
  EXPECT_THAT(violations, IsEmpty());
}

}}  // namespace house::repository_test
