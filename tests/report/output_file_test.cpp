#include "report/output_file.hpp"

#include <csignal>
#include <fstream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/error.hpp"

namespace farandole::output_file_test { namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

Writer writes(const std::string& text) {
  return [text](std::ostream& out) { out << text; };
}

/// What an OutputError says, or "" where none is thrown.
std::string complaint(const fs::path& file, const Writer& write) {
  try {
    write_file(file, write);
  } catch (const OutputError& error) {
    return error.what();
  }
  return "";
}

class OutputFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "farandole-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) result.push_back(entry.path().filename());
    return result;
  }

  fs::path folder_;
};

TEST_F(OutputFile, HoldsWhatWasWrittenAndNothingElseIsLeft) {
  write_file(folder_ / "result.json", writes("{}\n"));
  EXPECT_EQ(contents(folder_ / "result.json"), "{}\n");
  EXPECT_THAT(names(), testing::ElementsAre("result.json"));
}

TEST_F(OutputFile, ReplacesAnOlderOneAndKeepsItsPermissions) {
  write_file(folder_ / "result.json", writes("a long old text"));
  fs::permissions(folder_ / "result.json", fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder_ / "result.json", writes("new"));
  EXPECT_EQ(contents(folder_ / "result.json"), "new");
  EXPECT_EQ(fs::status(folder_ / "result.json").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFile, LeavesTheOldOneAndNoTemporaryFileWhereWritingFails) {
  write_file(folder_ / "result.json", writes("old"));
  const Writer breaks = [](std::ostream& out) {
    out << "half a res";
    throw std::runtime_error("out of luck");
  };
  EXPECT_THROW(write_file(folder_ / "result.json", breaks), std::runtime_error);
  EXPECT_THAT(names(), testing::ElementsAre("result.json"));
  EXPECT_EQ(contents(folder_ / "result.json"), "old");
}

TEST_F(OutputFile, IsNotMadeWhereTheStreamFails) {
  const Writer fails = [](std::ostream& out) { out.setstate(std::ios::badbit); };
  EXPECT_EQ(complaint(folder_ / "result.json", fails),
            "cannot write " + (folder_ / "result.json").string() + ": write failed");
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(OutputFile, InAFolderThatDoesNotExistIsRefused) {
  const fs::path file = folder_ / "nowhere" / "result.json";
  EXPECT_EQ(complaint(file, writes("x")), "cannot write " + file.string() + ": No such file or directory");
}

TEST_F(OutputFile, CannotBeAFolder) {
  EXPECT_EQ(complaint(folder_, writes("x")), "cannot write " + folder_.string() + ": Is a directory");
  EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_F(OutputFile, BehindALinkIsReplacedAndTheLinkStays) {
  write_file(folder_ / "real.json", writes("old"));
  fs::create_symlink("real.json", folder_ / "link.json");
  write_file(folder_ / "link.json", writes("new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.json"));
  EXPECT_EQ(contents(folder_ / "real.json"), "new");
}

TEST_F(OutputFile, MayHaveANameAsLongAsNamesCanBe) {
  const std::string name(255, 'n');
  write_file(folder_ / name, writes("x"));
  EXPECT_THAT(names(), testing::ElementsAre(name));
}

TEST_F(OutputFile, ThatIsADeviceIsWrittenDirectlyAndReportsThatItIsFull) {
  EXPECT_EQ(complaint("/dev/null", writes("x")), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(complaint("/dev/full", writes("x")), "cannot write /dev/full: No space left on device");
}

TEST_F(OutputFile, WhereNoneIsGivenGoesToStandardOutput) {
  std::ostringstream standard_output;
  write_output(std::nullopt, standard_output, writes("text"));
  EXPECT_EQ(standard_output.str(), "text");
  write_output(folder_ / "result.json", standard_output, writes("other"));
  EXPECT_EQ(standard_output.str(), "text");
  EXPECT_EQ(contents(folder_ / "result.json"), "other");
}

TEST_F(OutputFile, ReportsAStandardOutputThatFails) {
  std::ostringstream closed;
  closed.setstate(std::ios::badbit);
  EXPECT_THROW(write_output(std::nullopt, closed, writes("text")), OutputError);
}

/// A process that is killed while it writes `file`.
void write_and_be_killed(const fs::path& file) {
  const pid_t process = ::fork();
  if (process == 0) {
    write_file(file, [](std::ostream& out) {
      out << "half a res" << std::flush;
      ::kill(::getpid(), SIGKILL);
    });
  }
  ::waitpid(process, nullptr, 0);
}

TEST_F(OutputFile, OfAKilledRunIsRemovedByTheNextThatWritesInItsFolder) {
  write_and_be_killed(folder_ / "result.json");
  write_and_be_killed(folder_ / "other.json");
  ASSERT_THAT(names(), testing::Each(testing::MatchesRegex("\\.farandole-.+-[0-9]+-0\\.tmp")));
  write_file(folder_ / "result.json", writes("whole"));
  EXPECT_THAT(names(), testing::ElementsAre("result.json"));
}

TEST_F(OutputFile, ThatIsBeingWrittenStaysWhereOthersAreWrittenBesideIt) {
  write_file(folder_ / "outer.json", [&](std::ostream& out) {
    out << "half " << std::flush;
    write_file(folder_ / "inner.json", writes("inner"));
    out << "and half";
  });
  EXPECT_EQ(contents(folder_ / "outer.json"), "half and half");
  EXPECT_EQ(contents(folder_ / "inner.json"), "inner");
  EXPECT_THAT(names(), testing::UnorderedElementsAre("outer.json", "inner.json"));
}

TEST_F(OutputFile, OfAKilledRunOnAnotherMachineStays) {
  std::ofstream(folder_ / ".farandole-another.machine-1-0.tmp") << "half a res";
  std::ofstream(folder_ / "notes.tmp") << "mine";
  write_file(folder_ / "result.json", writes("whole"));
  EXPECT_THAT(names(), testing::UnorderedElementsAre("result.json", ".farandole-another.machine-1-0.tmp", "notes.tmp"));
}

TEST_F(OutputFile, IsTriedWithoutBeingMadeOrTouched) {
  write_file(folder_ / "result.json", writes("old"));
  try_file(folder_ / "result.json");
  try_file(folder_ / "new.json");
  try_file("/dev/full");  // may be opened; that nothing fits is for the writing to say
  EXPECT_EQ(contents(folder_ / "result.json"), "old");
  EXPECT_THAT(names(), testing::ElementsAre("result.json"));
  EXPECT_THROW(try_file(folder_), InputError);
  EXPECT_THROW(try_file(folder_ / "nowhere" / "result.json"), InputError);
  EXPECT_THROW(try_file(folder_ / std::string(300, 'n')), InputError);
}

}}  // namespace farandole::output_file_test
