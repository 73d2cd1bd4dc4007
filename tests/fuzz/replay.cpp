// Goes once through all files of folders, in place of libFuzzer: what was found once is tried in every build.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int count, char** arguments) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < count; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(arguments[i])) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    std::cerr << file.filename().string() << std::endl;  // at once: what is last was the cause
    std::ifstream stream(file, std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
    const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());  // without spare room behind it, for sanitizers
    LLVMFuzzerTestOneInput(data.data(), data.size());
  }
  if (files.empty()) std::cerr << "no file to go through\n";
  return files.empty() ? 1 : 0;
}
