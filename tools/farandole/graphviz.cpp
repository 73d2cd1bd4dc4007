#include "graphviz.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/html.hpp"

namespace farandole {
namespace {

/// A file that is gone when this is.
class ScratchFile {
 public:
  ScratchFile() : name_((std::filesystem::temp_directory_path() / "farandole-XXXXXX").string()) {
    const int descriptor = mkstemp(name_.data());
    if (descriptor < 0) throw std::runtime_error("cannot make a temporary file " + name_);
    close(descriptor);
  }
  ~ScratchFile() { std::remove(name_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// A signal from outside: what would have been drawn is not known, and a page without it would look like a whole one.
class DotWasKilled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "cannot draw the topology: dot was killed"; }
};

bool is_from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/// What the program says on a pipe until it ends; nothing where it is not there, or fails. No shell is between.
class Dot {
 public:
  explicit Dot(const std::string& file) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    std::array<std::string, 3> words{"dot", "-Tsvg", file};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};
    is_there_ = posix_spawnp(&process_, "dot", &actions, nullptr, arguments.data(), environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out_ = ends[0];
  }
  ~Dot() { close(out_); }
  Dot(const Dot&) = delete;
  Dot& operator=(const Dot&) = delete;

  std::string picture() {
    std::string text;
    std::array<char, 4096> piece{};
    while (is_there_) {
      const ssize_t count = ::read(out_, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return ended_well() ? text : std::string();
  }

 private:
  [[nodiscard]] bool ended_well() const {
    if (!is_there_) return false;
    int status = 0;
    while (waitpid(process_, &status, 0) < 0) {
      if (errno != EINTR) return false;
    }
    if (WIFSIGNALED(status) && is_from_outside(WTERMSIG(status))) throw DotWasKilled();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  bool is_there_ = false;
  pid_t process_ = -1;
  int out_ = -1;
};

}  // namespace

void draw_with_graphviz(std::ostream& out, const std::function<void(std::ostream&)>& write) {
  const ScratchFile graph;
  {
    std::ofstream file(graph.name());
    write(file);
  }
  const std::string picture = Dot(graph.name()).picture();
  if (picture.empty()) {
    throw std::runtime_error(
        "a picture needs Graphviz's program \"dot\", and it is not here or failed; install the package graphviz "
        "(Debian, Spack and conda-forge all call it so)");
  }
  out << harmless_svg(picture);
}

std::string drawn_or_empty(const std::function<void(std::ostream&)>& write) {
  std::ostringstream svg;
  try {
    draw_with_graphviz(svg, write);
  } catch (const std::runtime_error& error) {
    std::cerr << "no picture of the topology: " << error.what() << "\n";
    return {};
  }
  return svg.str();
}

}  // namespace farandole
