#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "config/message.hpp"

namespace farandole {
namespace {

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
  EXPECT_EQ(message_of([&] { Document::read("/dev/zero"); }),
            "/dev/zero: expected a readable file, got more than 64 MiB");
}

}  // namespace
}  // namespace farandole
