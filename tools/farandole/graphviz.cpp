#include "graphviz.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace farandole {
namespace {

/// A file that is gone when this is.
class TemporaryFile {
 public:
  TemporaryFile() : name_((std::filesystem::temp_directory_path() / "farandole-XXXXXX").string()) {
    const int descriptor = mkstemp(name_.data());
    if (descriptor < 0) throw std::runtime_error("cannot make a temporary file " + name_);
    close(descriptor);
  }
  ~TemporaryFile() { std::remove(name_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
};

}  // namespace

void draw_with_graphviz(std::ostream& out, const std::function<void(std::ostream&)>& write) {
  const TemporaryFile graph;
  {
    std::ofstream file(graph.name());
    write(file);
  }
  FILE* pipe = popen(("dot -Tsvg '" + graph.name() + "'").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a program");
  std::array<char, 4096> buffer{};
  std::string picture;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    picture.append(buffer.data(), count);
  if (pclose(pipe) != 0 || picture.empty()) {
    throw std::runtime_error(
        "a picture needs Graphviz's program \"dot\", and it is not here or failed; install the package graphviz "
        "(Debian, Spack and conda-forge all call it so)");
  }
  out << picture;
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
