// Journals and shards that are not what they should be: one line that says so, and nothing of the user's is lost.
#include "study/journal.hpp"

#include <csignal>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/error.hpp"
#include "report/heading.hpp"
#include "report/output_file.hpp"
#include "study/study.hpp"

namespace farandole::journal_test { namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string contents(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

class JournalFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "farandole-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  [[nodiscard]] std::string opening(const fs::path& file) const {
    return refusal([&] { const Journal journal(file); });
  }
  /// What merging that heading and those lines says.
  [[nodiscard]] std::string merging(const Record& heading, const std::string& lines = "") const {
    const fs::path file = write("shard", journal_line(heading) + lines);
    return refusal([&] { merge_shards({file}); });
  }

  fs::path folder_;
};

Record heading_with(const char* key, const Record& value) {
  Record heading = to_record(StudyHeading{"s", "id", 1, false, {1, 1}, "json", {}});
  heading[key] = value;
  return heading;
}

TEST_F(JournalFile, OfAnotherKindIsNeitherCutNorTakenAway) {
  for (const std::string text : {"my notes", "my notes\n", "two\nlines\n", "0123456789abcdef \n", "\n"}) {
    const fs::path file = write("result.partial", text);
    EXPECT_NE(opening(file), "not refused") << text;
    EXPECT_EQ(contents(file), text);
  }
  EXPECT_THAT(opening(write("result.partial", "my notes")), HasSubstr("it stays as it is"));
}

TEST_F(JournalFile, WhoseFirstLineWasNotWrittenToItsEndIsTakenOver) {
  const std::string heading = journal_line(heading_with("points", 1));
  EXPECT_EQ(opening(write("result.partial", heading.substr(0, heading.size() - 5))), "not refused");
  EXPECT_EQ(opening(write("result.partial", heading.substr(0, 20))), "not refused");
  EXPECT_EQ(opening(write("result.partial", "")), "not refused");
  EXPECT_NE(opening(write("result.partial", "0123456789abcdef")), "not refused") << "a number may be anybody's";
}

TEST_F(JournalFile, HoldsWholeLinesOnlyWhereOneHadNoRoom) {
  const fs::path file = folder_ / "result.partial";
  const Record heading = heading_with("points", 1);
  const pid_t full = ::fork();
  if (full == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlim_t size = journal_line(heading).size() + 5;
    const rlimit limit{size, size};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Journal journal(file);
    journal.append(heading);
    try {
      journal.append(heading);
    } catch (const OutputError& error) {
      ::_exit(error.error() == EFBIG ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(full, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(contents(file), journal_line(heading));
}

TEST_F(JournalFile, IsNoLinkAndNoPipe) {
  const fs::path target = write("precious", "");
  fs::create_symlink(target, folder_ / "link.partial");
  EXPECT_THAT(opening(folder_ / "link.partial"), HasSubstr("a link"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe.partial").c_str(), 0600), 0);
  EXPECT_THAT(opening(folder_ / "pipe.partial"), HasSubstr("no regular file"));
}

TEST_F(JournalFile, ThatAnotherRunIsWritingIsSaidToBeSo) {
  const fs::path file = write("result.partial", journal_line(heading_with("points", 1)));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const Journal journal(file);
    static_cast<void>(!::write(ready[1], "x", 1));
    ::pause();
  }
  char told = 0;
  ASSERT_EQ(::read(ready[0], &told, 1), 1);
  EXPECT_THAT(opening(file), AllOf(HasSubstr("another run is writing it"), Not(HasSubstr("interrupted"))));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_EQ(opening(file), "not refused");
}

TEST_F(JournalFile, StaysLockedWhileItIsReadAndIsTakenAwayOnlyItself) {
  const fs::path file = write("result.partial", "");
  Journal journal(file);
  const pid_t other = ::fork();
  if (other == 0) ::_exit(opening(file).find("another run") == std::string::npos ? 1 : 0);
  int status = -1;
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
  fs::rename(file, folder_ / "moved");
  static_cast<void>(write("result.partial", "another file"));
  journal.remove();
  EXPECT_EQ(contents(file), "another file");
}

TEST_F(JournalFile, WithAnImpossibleHeadingIsRefusedInOneLine) {
  EXPECT_THAT(merging(heading_with("of", 0)), HasSubstr("shard:1: /: expected a heading whose \"of\" is from 1 to"));
  EXPECT_THAT(merging(heading_with("of", -1)), HasSubstr("\"of\""));
  EXPECT_THAT(merging(heading_with("of", "2")), HasSubstr("\"of\""));
  EXPECT_THAT(merging(heading_with("shard", 2)), HasSubstr("expected a heading whose \"shard\" is from 1 to 1, got 2"));
  EXPECT_THAT(merging(heading_with("shard", 0)), HasSubstr("\"shard\""));
  EXPECT_THAT(merging(heading_with("points", 1'000'000'000'000'000'000)), HasSubstr("\"points\" is from 0 to 1000000"));
  EXPECT_THAT(merging(heading_with("points", -1)), HasSubstr("\"points\""));
  EXPECT_THAT(merging(heading_with("points", 1.5)), HasSubstr("\"points\""));
  Record many = heading_with("of", 2147483647);
  many["points"] = 0;
  EXPECT_THAT(merging(many), AllOf(HasSubstr("missing shards: 2/2147483647"), HasSubstr("and more")));
}

// A right checksum does not make a record right.
TEST_F(JournalFile, WithAnAlteredRecordIsRefusedInOneLineWithoutWordsFromInside) {
  Record point = to_record(TrainingPoint{});
  const auto merged = [&](const char* key, const Record& value) {
    Record altered = point;
    altered[key] = value;
    return merging(heading_with("points", 1), journal_line(journal_entry(0, altered)));
  };
  EXPECT_EQ(merging(heading_with("points", 1), journal_line(journal_entry(0, point))), "not refused");
  const std::string expected = "shard: /: expected point 1 as farandole run writes it, got an altered record";
  EXPECT_THAT(merged("ranks", "many"), HasSubstr(expected));
  for (const double no_int : {1.5, 1e300, -3e9}) EXPECT_THAT(merged("ranks", no_int), HasSubstr(expected));
  EXPECT_THAT(merged("ranks", 4294967304), HasSubstr(expected));
  EXPECT_THAT(merged("ranks", -1), HasSubstr(expected));
  for (const char* amount : {"iteration_seconds", "samples_per_second"}) {
    EXPECT_THAT(merged(amount, -1.0), HasSubstr(expected)) << amount;
    EXPECT_EQ(merged(amount, 1.0), "not refused") << amount;
  }
  EXPECT_THAT(merged("breakdown", 7), HasSubstr(expected));
  EXPECT_THAT(merged("new_key", 1), HasSubstr(expected));
  EXPECT_THAT(merged("memory", nullptr), Not(HasSubstr("json.exception")));
  EXPECT_THAT(merging(heading_with("points", 1), journal_line(journal_entry(7, point))),
              HasSubstr("expected points of shard 1/1, got point 7"));
}

// Every bracket would be a call within a call where the record is printed or compared: the stack holds some ten
// thousand.
TEST_F(JournalFile, WithARecordThatIsNestedWithoutEndIsRefused) {
  const std::string nested = std::string(200'000, '[') + std::string(200'000, ']');
  const auto line = [](const std::string& text) { return checksum(text) + " " + text + "\n"; };
  EXPECT_THAT(refusal([&] { merge_shards({write("shard", line(R"({"farandole":)" + nested + "}"))}); }),
              HasSubstr("expected a journal or shard of farandole run, got another file"));
  const std::string entry = line(R"({"index":0,"point":{"ranks":)" + nested + "}}");
  EXPECT_THAT(merging(heading_with("points", 1), entry), HasSubstr("the shard is incomplete"));
}

TEST(StudyShard, CountsItsPointsAsItHasThem) {
  for (int of = 1; of <= 5; ++of) {
    for (int index = 1; index <= of; ++index) {
      const StudyShard shard{index, of};
      for (std::size_t points = 0; points < 12; ++points) {
        std::size_t has = 0;
        for (std::size_t i = 0; i < points; ++i) has += shard.has(i) ? 1 : 0;
        EXPECT_EQ(shard.count(points), has) << shard.text() << " of " << points;
      }
    }
  }
}

}}  // namespace farandole::journal_test
