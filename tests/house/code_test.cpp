// The rules that a reader of the code may count on: short files, short functions, no exit, no naked new.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "house/source_tree.hpp"

namespace house::code_test { namespace {

using testing::IsEmpty;

constexpr std::size_t most_lines_in_a_file = 600;
constexpr std::size_t most_lines_in_half_of_the_files = 120;
constexpr std::size_t most_lines_in_a_function = 50;

bool is_script(const Path& file) {
  return file.extension() == ".sh" || file.extension() == ".py" || text_of(file).starts_with("#!");
}

/// The C++ files and the scripts of sim/, tools/, tests/; data is exempt.
std::vector<Path> program_files() {
  auto files = cpp_files();
  for (const char* folder : {"sim", "tools", "tests"}) {
    std::ranges::copy_if(files_under(folder), std::back_inserter(files), is_script);
  }
  return files;
}

/// Lines of code, comments and literals aside, that match; but for those with a comment "// owned by WHOM".
Violations lines_of_code_matching(const std::regex& pattern) {
  Violations violations;
  for (const Path& file : cpp_files("sim")) {
    const auto code = code_lines_of(file);
    const auto lines = lines_of(file);
    for (std::size_t i = 0; i < code.size(); ++i) {
      // In the handler of a signal nothing else ends the program.
      // A forked copy of the program must not run what its parent has yet to run, so it may end where it stands.
      const bool is_owned = lines[i].find("// owned by") != std::string::npos ||
                            lines[i].find("// ends a forked worker") != std::string::npos ||
                            lines[i].find("// ends a program whose point hangs") != std::string::npos;
      if (std::regex_search(code[i], pattern) && !is_owned) violations.push_back(violation(file, i, lines[i]));
    }
  }
  return violations;
}

/// clang-format puts what stands in a namespace at column 0: the first line of a function's signature too.
bool opens_function(const std::string& line) {
  static const std::regex signature(R"(^[A-Za-z~].*\(.*[{,()]$)");
  static const std::regex other_block(R"(^(namespace|struct|class|enum|union|extern)\b)");
  return std::regex_search(line, signature) && !std::regex_search(line, other_block);
}

Violations long_functions(const Path& file) {
  Violations violations;
  const auto code = code_lines_of(file);
  std::optional<std::size_t> start;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].empty() || !(std::isalpha(static_cast<unsigned char>(code[i][0])) || code[i][0] == '}')) continue;
    if (start && code[i][0] == '}' && i - *start > most_lines_in_a_function) {
      violations.push_back(violation(file, *start, std::to_string(i - *start) + " lines"));
    }
    start = opens_function(code[i]) ? std::optional(i) : std::nullopt;
  }
  return violations;
}

TEST(Code, FilesAreShortAndNoneIsLongerThanSixHundredLines) {
  Violations violations;
  std::vector<std::size_t> lengths;
  for (const Path& file : program_files()) {
    const auto lines = lengths.emplace_back(lines_of(file).size());
    if (lines > most_lines_in_a_file) violations.push_back(file.string() + ": " + std::to_string(lines) + " lines");
  }
  EXPECT_THAT(violations, IsEmpty());
  const auto middle = lengths.begin() + std::ssize(lengths) / 2;
  std::ranges::nth_element(lengths, middle);
  EXPECT_LE(*middle, most_lines_in_half_of_the_files);
}

TEST(Code, NoFunctionIsLongerThanFiftyLines) {
  Violations violations;
  for (const Path& file : cpp_files()) std::ranges::copy(long_functions(file), std::back_inserter(violations));
  EXPECT_THAT(violations, IsEmpty());
}

TEST(Code, EveryHeaderOfTheLibraryOpensWithACommentThatSaysWhatItIs) {
  Violations violations;
  for (const Path& file : files_under("sim", {".hpp"})) {
    if (!text_of(file).starts_with("// ")) violations.push_back(file.string());
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(Code, TheLibraryNeverExits) {
  EXPECT_THAT(lines_of_code_matching(std::regex(R"(\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\()")), IsEmpty());
}

TEST(Code, TheLibraryHasNoNakedNew) {
  EXPECT_THAT(lines_of_code_matching(std::regex(R"(\bnew\s+[A-Za-z:(])")), IsEmpty());
}

/// Else a study resumed after such a file was edited mixes two of them, and a result may take its place.
TEST(Code, FilesThatAScenarioNamesAreOpenedByTheCatalogueAlone) {
  const std::regex opens(R"(\b(read_text|Document::read|algorithm_from_file|read_topology|topology_of_graph_file)\()"
                         R"(|\bi?fstream\b|\bfopen\b|\bopen\()");
  Violations violations;
  for (const char* room :
       {"collective", "platform", "workload", "simulate", "engine", "training", "economics", "scenario"}) {
    for (const Path& file : files_under(Path("sim") / room, {".cpp"})) {
      if (file == "sim/scenario/catalogue.cpp") continue;
      if (file == "sim/simulate/library/library_file.cpp") continue;  // what it read the catalogue takes into account
      const auto code = code_lines_of(file);
      for (std::size_t i = 0; i < code.size(); ++i) {
        const bool is_definition = std::isalpha(static_cast<unsigned char>(code[i].empty() ? ' ' : code[i][0])) != 0;
        if (std::regex_search(code[i], opens) && !is_definition)
          violations.push_back(violation(file, i, lines_of(file)[i]));
      }
    }
  }
  EXPECT_THAT(violations, IsEmpty());
}

/// What tests/mutation/mutate.py has broken it marks so, until it is mended.
TEST(Code, HasNoMutantInIt) {
  Violations violations;
  for (const Path& file : cpp_files("sim")) {
    const auto lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].ends_with("// a mutant")) violations.push_back(violation(file, i, lines[i]));
    }
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(Code, IsReadWithoutItsCommentsAndLiterals) {
  const auto code = code_lines_of("tests/house/source_tree.cpp");
  EXPECT_EQ(code.size(), lines_of("tests/house/source_tree.cpp").size());
  EXPECT_TRUE(std::ranges::any_of(code, [](const auto& line) { return line.find("is_left_out") != line.npos; }));
  EXPECT_FALSE(std::ranges::any_of(code, [](const auto& line) { return line.find("__pycache__") != line.npos; }));
}

}}  // namespace house::code_test
