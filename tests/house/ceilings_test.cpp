// The library is larger than what it does: its lines and its named types may fall, and not grow. Whoever adds a
// mechanism says what it replaces; whoever deletes one lowers the ceiling, so that nobody fills the room again.
#include <algorithm>
#include <iterator>
#include <regex>

#include <gtest/gtest.h>

#include "house/source_tree.hpp"

namespace house::ceilings_test { namespace {

constexpr std::ptrdiff_t most_lines = 74'511;
constexpr std::ptrdiff_t most_types = 989;
constexpr double room = 0.01;  // above what is there

std::ptrdiff_t lines_of_the_library() {
  std::ptrdiff_t lines = 0;
  for (const Path& file : cpp_files("sim")) lines += std::ssize(lines_of(file));
  return lines;
}

/// Wherever they are defined, in unnamed namespaces and in other types too.
std::ptrdiff_t types_in(const std::vector<std::string>& code) {
  static const std::regex type(R"(^\s*(?:template\s*<.*>\s*)?(?:struct|class|enum class|enum|union)\s+\w[^;()]*\{.*)");
  return std::ranges::count_if(code, [](const std::string& line) { return std::regex_match(line, type); });
}

std::ptrdiff_t types_of_the_library() {
  std::ptrdiff_t types = 0;
  for (const Path& file : cpp_files("sim")) types += types_in(code_lines_of(file));
  return types;
}

void expect_at_most(std::ptrdiff_t count, std::ptrdiff_t ceiling) {
  EXPECT_LE(count, ceiling);
  EXPECT_GE(static_cast<double>(count), static_cast<double>(ceiling) * (1 - room)) << "lower the ceiling to " << count;
}

TEST(Ceilings, OfTheLibrarysLinesOnlyFall) {
  expect_at_most(lines_of_the_library(), most_lines);
}

TEST(Ceilings, OfTheLibrarysTypesOnlyFall) {
  expect_at_most(types_of_the_library(), most_types);
}

TEST(Ceilings, CountTypesWhereverTheyAreDefined) {
  EXPECT_EQ(types_in({"struct A {", "  enum class B : int { c };", "};", "class D;", "template <class T>",
                      "struct E : A {", "void f(struct A a) {", "namespace { union F {"}),
            3);
}

}}  // namespace house::ceilings_test
