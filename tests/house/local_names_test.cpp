// The files of a room are compiled several at a time (cmake/FarandoleRoom.cmake), so what they keep to themselves has
// names that are unique in the room: two functions of one name in one unit are an error where their parameters agree,
// and overloads of each other, without a word, where they do not.
#include <map>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "house/source_tree.hpp"

namespace house::local_names_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// What is defined in unnamed namespaces, or static, at column 0, where clang-format puts it; aliases with what they
/// stand for, which may be said twice.
std::set<std::string> local_names(const std::vector<std::string>& code) {
  static const std::regex type(R"(^(?:struct|class|enum class|enum|union)\s+(\w+).*)");
  static const std::regex alias(R"(^(using\s.*;|namespace\s+\w+\s*=.*;))");
  static const std::regex value_or_function(R"(^(?:template\s*<.*>\s*)?[A-Za-z_][^=({;]*?\b(\w+)\s*[\[(={;].*)");
  std::set<std::string> names;
  bool is_unnamed = false;
  for (const std::string& line : code) {
    if (line.ends_with("namespace {")) is_unnamed = true;
    if (line.starts_with("}")) is_unnamed = is_unnamed && !line.starts_with("} ") && !line.starts_with("}}");
    if (line.empty() || (!is_unnamed && !line.starts_with("static "))) continue;
    std::smatch found;
    const bool is_name = std::regex_match(line, found, alias) || std::regex_match(line, found, type) ||
                         std::regex_match(line, found, value_or_function);
    if (is_name && !line.ends_with("namespace {")) names.insert(found[1]);
  }
  return names;
}

/// Of sources that are compiled into one library or module: those of mpi/, nccl/, simgrid/ and nlopt/ are apart.
std::string room_of(const Path& file) {
  static const std::set<std::string> modules{"mpi", "nccl", "simgrid", "nlopt"};
  const std::string folder = file.parent_path().filename().string();
  return modules.contains(folder) ? folder : std::next(file.begin())->string();
}

Violations shared_names(const Path& top) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> files;  // by room and name
  for (const Path& file : files_under(top, {".cpp"})) {
    for (const auto& name : local_names(code_lines_of(file))) files[room_of(file)][name].push_back(file.string());
  }
  Violations violations;
  for (const auto& [room, names] : files) {
    for (const auto& [name, where] : names) {
      const bool is_alias = name.find(' ') != std::string::npos;
      if (where.size() > 1 && !is_alias) violations.push_back(name + ": " + testing::PrintToString(where));
    }
  }
  return violations;
}

TEST(LocalNames, AreUniqueInARoom) {
  EXPECT_THAT(shared_names("sim"), IsEmpty());
}

TEST(LocalNames, AreUniqueInTheCommandLine) {
  EXPECT_THAT(shared_names("tools/farandole"), IsEmpty());
}

TEST(LocalNames, AreThoseOfUnnamedNamespacesAndStaticFunctions) {
  EXPECT_THAT(local_names({"namespace a {", "namespace {", "constexpr double b = 1;", "struct C {", "  int d;", "};",
                           "std::map<int, int> e(int f) {", "  int g = 1;", "}", "using H = int;", "}  // namespace",
                           "int i() {", "static int j() {", "}"}),
              ElementsAre("C", "b", "e", "j", "using H = int;"));
}

/// A namespace of its own, named like the file, in place of unique names: tests are many, and alike.
TEST(LocalNames, OfTestsAreInTheirFilesNamespace) {
  Violations violations;
  for (const Path& file : files_under("tests", {".cpp"})) {
    const std::string name = file.stem().string();
    if (!name.ends_with("_test")) continue;
    const bool is_own = std::ranges::any_of(lines_of(file), [&](const std::string& line) {
      return line.starts_with("namespace ") && line.find("::" + name + " {") != std::string::npos;
    });
    if (!is_own) violations.push_back(file.string());
  }
  EXPECT_THAT(violations, IsEmpty());
}

}}  // namespace house::local_names_test
