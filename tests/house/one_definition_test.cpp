// One definition (C++20 [basic.def.odr]): types of one qualified name in two places are one type to the linker, which
// keeps the members of either, without a word. Every room has a namespace of its own, which is inline: others say
// farandole::Schedule, and that must mean one type.
#include <iterator>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "house/defined_types.hpp"
#include "house/source_tree.hpp"

namespace house::one_definition_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names_of(const std::vector<std::string>& code) {
  std::vector<std::string> names;
  for (const auto& type : types_defined_in(code)) names.push_back(type.name);
  return names;
}

using Places = std::map<std::string, std::vector<std::string>>;  // by qualified name

void add_types_under(const Path& folder, Places& places) {
  for (const Path& file : cpp_files(folder)) {
    for (const auto& type : types_defined_in(code_lines_of(file))) {
      places[type.name].push_back(file.string() + ":" + std::to_string(type.index + 1));
    }
  }
}

Violations defined_twice(const Places& places) {
  Violations violations;
  for (const auto& [name, where] : places) {
    if (where.size() > 1) violations.push_back(name + ": " + testing::PrintToString(where));
  }
  return violations;
}

TEST(OneDefinition, NoTwoTypesOfTheLibraryAndTheToolsHaveOneQualifiedName) {
  Places places;
  add_types_under("sim", places);
  add_types_under("tools", places);
  EXPECT_GT(places.size(), 300U);
  EXPECT_TRUE(places.contains("farandole::collective::Schedule"));
  EXPECT_THAT(defined_twice(places), IsEmpty());
}

TEST(OneDefinition, ATypeOfAHeaderCanBeNamedWithoutItsRoom) {
  Places places;
  for (const Path& file : cpp_files("sim")) {
    if (file.extension() != ".hpp") continue;
    const std::string room = "farandole::" + std::next(file.begin())->string() + "::";
    for (const auto& type : types_defined_in(code_lines_of(file))) {
      ASSERT_TRUE(type.name.starts_with(room)) << file << ": " << type.name;
      places[type.name.substr(room.size())].push_back(file.string());
    }
  }
  EXPECT_TRUE(places.contains("Schedule"));
  EXPECT_THAT(defined_twice(places), IsEmpty());
}

TEST(OneDefinition, EveryFileOfARoomIsInItsNamespace) {
  Violations violations;
  for (const Path& file : cpp_files("sim")) {
    const std::string room = "inline namespace " + std::next(file.begin())->string() + " {";
    for (const std::string& line : code_lines_of(file)) {
      const bool opens = line.starts_with("namespace farandole") && line != "namespace farandole {";
      if (opens && !line.starts_with("namespace farandole { " + room))
        violations.push_back(file.string() + ": " + line);
    }
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(OneDefinition, NoTypeOfATestProgramHasTheNameOfAnotherInIt) {
  Places shared;
  for (const char* folder : {"sim", "tools", "tests/support"}) add_types_under(folder, shared);
  std::set<Path> programs;
  for (const Path& file : cpp_files("tests")) programs.insert(*std::next(file.begin()));
  programs.erase("support");
  programs.erase("bench");  // a program for each of its files
  programs.erase("fuzz");
  for (const Path& program : programs) {
    Places places = shared;
    add_types_under("tests" / program, places);
    EXPECT_THAT(defined_twice(places), IsEmpty()) << program;
  }
}

TEST(DefinedTypes, AreFoundByTheirQualifiedNames) {
  EXPECT_THAT(names_of({"namespace a::b {", "struct C final : D<int> { class E {}; union F { int i; }; };", "}",
                        "enum class G : int { g };", "class [[nodiscard]] H {}; struct a::b::C::I {};"}),
              ElementsAre("a::b::C", "a::b::C::E", "a::b::C::F", "G", "H", "a::b::C::I"));
}

TEST(DefinedTypes, AreNamedWithTheInlineNamespaceThatTheyAreIn) {
  EXPECT_THAT(
      names_of({"namespace a::inline b::c {", "struct D {};", "}", "inline namespace e { struct F; struct G {}; }"}),
      ElementsAre("a::b::c::D", "e::G"));
}

TEST(DefinedTypes, AreFoundBehindFunctionsAndInitialisers) {
  EXPECT_THAT(
      names_of({"int f() { if (true) { return 1; } }", "struct A { int a{1}; A() : a{2} {} };", "struct B {};"}),
      ElementsAre("A", "B"));
}

TEST(DefinedTypes, AreNoneWhereTypesAreOnlyNamed) {
  EXPECT_THAT(names_of({"struct A;", "struct A* f(const struct A& a) { return {}; }",
                        "template <class T, struct U> void g() {}", "enum class E : int;", "friend class F;",
                        "using H = struct A;", "namespace x = y;", "using namespace z;", "#define S struct S {",
                        "template <typename T>", "  requires true", "void h(T) {}"}),
              IsEmpty());
}

TEST(DefinedTypes, AreNoneThatOtherFilesCannotMean) {
  EXPECT_THAT(names_of({"namespace { struct A { struct B {}; }; }", "void f() { struct C {}; }",
                        "struct { int i; } one;", "namespace n { namespace { enum D { d }; } struct E {}; }"}),
              ElementsAre("n::E"));
}

TEST(DefinedTypes, AreDistinctForSpecialisationsOfOneTemplate) {
  EXPECT_THAT(names_of({"template <> struct std::hash<A> {};", "template <class T> struct S {};",
                        "template <> struct S<V<int>> {};"}),
              ElementsAre("std::hash<A>", "S", "S<V<int>>"));
}

TEST(DefinedTypes, OfOneNameInTwoPlacesAreAViolation) {
  EXPECT_THAT(defined_twice({{"a::B", {"one.hpp:1", "two.hpp:2"}}, {"a::C", {"one.hpp:3"}}}), testing::SizeIs(1));
}

}}  // namespace house::one_definition_test
