// Runs the program as a user does and keeps what it printed and how it ended.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace farandole::test {

struct Finished {
  int status = -1;
  std::string out;
  std::string err;
};

inline std::string contents(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A folder of this test's own, empty at its start and gone at its end; commands run in it.
class Workplace {
 public:
  explicit Workplace(const std::string& which = "") {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("farandole-") + test->test_suite_name() + "-" + test->name() + which);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Workplace() { std::filesystem::remove_all(folder_); }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  /// `arguments` as typed in a shell.
  [[nodiscard]] Finished farandole(const std::string& arguments) const {
    return run(FARANDOLE_PROGRAM " " + arguments);
  }

  /// The same for any command.
  [[nodiscard]] Finished run(const std::string& line) const {
    const auto err = folder_ / "stderr.txt";
    const std::string command = "cd '" + folder_.string() + "' && " + line + " 2>'" + err.string() + "'";
    Finished finished;
    FILE* pipe = popen(command.c_str(), "r");
    char buffer[4096];
    for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) finished.out.append(buffer, n);
    finished.status = WEXITSTATUS(pclose(pipe));
    finished.err = contents(err);
    std::filesystem::remove(err);
    return finished;
  }

 private:
  std::filesystem::path folder_;
};

/// The scenarios that come with the program.
inline std::string scenario(const std::string& name) {
  return "'" FARANDOLE_SOURCE_DIR "/scenarios/" + name + ".json'";
}

}  // namespace farandole::test
