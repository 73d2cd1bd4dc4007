#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/message.hpp"
#include "config/text.hpp"

namespace farandole::file_test { namespace {

namespace fs = std::filesystem;

/// A folder of the test's own, gone with it.
class Files : public testing::Test {
 protected:
  Files() : folder_(fs::path(testing::TempDir()) / ("farandole_files_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

TEST_F(Files, AreReadAndNamedInErrors) {
  const auto file = write("a.json", "{\"a\":\n1}");
  const auto document = Document::read(file);
  EXPECT_EQ(document.source(), file.string());
  EXPECT_EQ(message_of([&] { document.root().members()[0].second.fail("a string"); }),
            file.string() + ":2: /a: expected a string, got 1");
}

TEST_F(Files, ThatAreEmptyAreRefused) {
  const auto file = write("empty.json", "");
  EXPECT_EQ(message_of([&] { Document::read(file); }), file.string() + ":1: /: expected a JSON value, got nothing");
}

TEST_F(Files, ThatDoNotExistAreRefused) {
  const auto file = folder() / "none.json";
  EXPECT_EQ(message_of([&] { Document::read(file); }),
            file.string() + ": expected a readable file, got \"No such file or directory\"");
}

TEST_F(Files, ThatAreFoldersAreRefused) {
  EXPECT_EQ(message_of([&] { Document::read(folder()); }),
            folder().string() + ": expected a readable file, got a directory");
}

TEST_F(Files, WithoutPermissionAreRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto file = write("secret.json", "{}");
  fs::permissions(file, fs::perms::none);
  EXPECT_EQ(message_of([&] { Document::read(file); }),
            file.string() + ": expected a readable file, got \"Permission denied\"");
}

TEST_F(Files, OfMoreThanSixtyFourMebibytesAreRefused) {
  const auto file = write("huge.json", "{}");
  fs::resize_file(file, (std::uintmax_t{64} << 20U) + 1);
  EXPECT_EQ(message_of([&] { Document::read(file); }),
            file.string() + ": expected a readable file, got more than 64 MiB");
}

TEST_F(Files, ThatNeverEndAreRefused) {
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/null"}) {
    EXPECT_EQ(message_of([&] { read_text(device); }), std::string(device) + ": expected a readable file, got a device");
  }
}

// Every reader of lines, XML or JSON gets its text from read_text(), so none meets half of another encoding.
TEST_F(Files, ThatAreNotUtf8AreRefusedWithTheLine) {
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> texts{
      {"1\n2\0"s, ":2: /: expected text in UTF-8, got a zero byte"},
      {"\xFF\xFE\x31\0"s, ":1: /: expected text in UTF-8, got UTF-16"},
      {"\xFF\xFE\0\0\x31\0\0\0"s, ":1: /: expected text in UTF-8, got UTF-32"},
      {"\x1F\x8B\x08"s, ":1: /: expected text in UTF-8, got a compressed file"},
      {"a\nb\n\xE9"s, ":3: /: expected text in UTF-8, got bytes that are not UTF-8"}};
  for (const auto& [text, complaint] : texts) {
    const auto file = write("text", text);
    EXPECT_EQ(message_of([&] { read_text(file); }), file.string() + complaint);
  }
}

TEST_F(Files, LoseTheirByteOrderMark) {
  EXPECT_EQ(read_text(write("text", "\xEF\xBB\xBF# comment\n")), "# comment\n");
}

TEST_F(Files, MayBePipes) {
  const auto pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe) << "text"; });
  EXPECT_EQ(read_text(pipe), "text");
  writer.join();
}

}}  // namespace farandole::file_test
