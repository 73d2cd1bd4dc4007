// The one-way rule: a room of sim/ includes only rooms above it, and SimGrid has one door.
#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "house/source_tree.hpp"

namespace house::rooms_test { namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<std::string>& rooms() {
  static const std::vector<std::string> from_the_ground_up = {
      "units",    "config",  "collective", "platform",  "workload", "timeline", "simulate",    "engine",
      "training", "backend", "learning",   "economics", "report",   "scenario", "calibration", "study"};
  return from_the_ground_up;
}

/// The room's place in the list; nothing for a folder that is no room.
std::optional<std::ptrdiff_t> floor_of(const std::string& room) {
  const auto place = std::ranges::find(rooms(), room);
  if (place == rooms().end()) return std::nullopt;
  return place - rooms().begin();
}

/// "sim/ROOM/file.cpp" belongs to ROOM.
std::string room_of(const Path& file) {
  return std::next(file.begin())->string();
}

/// The folder of `#include "FOLDER/..."`, if the line is one.
std::optional<std::string> included_room(const std::string& line) {
  static const std::regex include(R"re(^\s*#\s*include\s+"([a-z_]+)/)re");
  std::smatch match;
  if (!std::regex_search(line, match, include)) return std::nullopt;
  return match[1].str();
}

bool may_include(const std::string& room, const std::string& other) {
  return floor_of(room) && floor_of(other) && *floor_of(other) <= *floor_of(room);
}

std::vector<std::string> rooms_that_exist() {
  std::set<std::string> found;
  for (const Path& file : files_under("sim")) {
    if (std::distance(file.begin(), file.end()) > 2) found.insert(room_of(file));
  }
  return {found.begin(), found.end()};
}

TEST(Rooms, IncludeOnlyRoomsAboveThem) {
  Violations violations;
  for (const Path& file : cpp_files("sim")) {
    const auto lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto included = included_room(lines[i]);
      if (included && !may_include(room_of(file), *included)) violations.push_back(violation(file, i, lines[i]));
    }
  }
  EXPECT_THAT(violations, IsEmpty());
}

TEST(Rooms, AreAllInTheListFromTheGroundUp) {
  Violations unknown;
  for (const auto& room : rooms_that_exist()) {
    if (!floor_of(room)) unknown.push_back("sim/" + room);
  }
  EXPECT_THAT(unknown, IsEmpty());
}

TEST(Rooms, AreAllIntroducedInTheReadme) {
  const std::string readme = text_of("sim/README.md");
  Violations missing;
  for (const auto& room : rooms_that_exist()) {
    if (readme.find("`" + room + "/`") == std::string::npos) missing.push_back("sim/" + room);
  }
  EXPECT_THAT(missing, IsEmpty());
}

TEST(SimGrid, IsIncludedInOneFileOnly) {
  std::vector<std::string> doors;
  for (const Path& file : cpp_files()) {
    // These two compare with SimGrid itself.
    if (file.string().starts_with("tests/bench/") || file == "tests/economics/energy_plugin_test.cpp") continue;
    if (text_of(file).find(std::string("#include <") + "simgrid/") != std::string::npos) doors.push_back(file.string());
  }
  EXPECT_THAT(doors, ElementsAre("sim/simulate/simgrid/engine.cpp"));
}

TEST(TheRuleOfTheRooms, LetsARoomIncludeItselfAndTheRoomsAboveButNoneBelow) {
  EXPECT_TRUE(may_include("platform", "platform"));
  EXPECT_TRUE(may_include("platform", "units"));
  EXPECT_FALSE(may_include("platform", "training"));
  EXPECT_FALSE(may_include("platform", "cellar"));
}

}}  // namespace house::rooms_test
