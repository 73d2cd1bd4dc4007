#include "house/source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "support/source_folder.hpp"

namespace house {
namespace {

namespace fs = std::filesystem;

const Path& root() {
  static const Path top = farandole::test::source_folder();
  return top;
}

/// Build trees, results, and what tools keep for themselves; given relative to the top.
bool is_left_out(const Path& folder) {
  const std::string name = folder.filename().string();
  const bool at_top = !folder.has_parent_path();
  return name == ".git" || name == "__pycache__" || (at_top && (name.starts_with("build") || name == "results"));
}

/// In a linked worktree .git is a file that names the repository it belongs to.
bool is_wanted(const Path& file, const std::vector<std::string>& extensions) {
  if (file.filename() == ".git") return false;
  return extensions.empty() || std::ranges::find(extensions, file.extension().string()) != extensions.end();
}

/// One past the end of what starts at `from` and ends with `last`.
std::size_t after(const std::string& text, const std::string& last, std::size_t from) {
  const auto found = text.find(last, from);
  return found == std::string::npos ? text.size() : found + last.size();
}

std::size_t after_quoted(const std::string& text, std::size_t from) {
  std::size_t i = from + 1;
  while (i < text.size() && text[i] != text[from]) i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

/// R"MARK( ... )MARK"
std::size_t after_raw_string(const std::string& text, std::size_t from) {
  const auto open = text.find('(', from);
  return after(text, ")" + text.substr(from + 2, open - from - 2) + "\"", open);
}

/// The apostrophe in 1'000 opens no literal.
bool separates_digits(const std::string& text, std::size_t i) {
  return i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0;
}

/// The end of the comment or literal that starts at `from`; `from` itself where none does.
std::size_t after_comment_or_literal(const std::string& text, std::size_t from) {
  const auto starts = [&](const char* token) { return text.compare(from, 2, token) == 0; };
  if (starts("//")) return std::min(text.find('\n', from), text.size());
  if (starts("/*")) return after(text, "*/", from + 2);
  if (starts("R\"")) return after_raw_string(text, from);
  if (text[from] == '"' || (text[from] == '\'' && !separates_digits(text, from))) return after_quoted(text, from);
  return from;
}

std::string without_comments_and_literals(const std::string& text) {
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    const auto end = after_comment_or_literal(text, i);
    if (end == i) {
      code += text[i++];
      continue;
    }
    code += std::string(static_cast<std::size_t>(std::count(&text[i], &text[i] + (end - i), '\n')), '\n');
    i = end;
  }
  return code;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::vector<Path> files_under(const Path& folder, const std::vector<std::string>& extensions) {
  std::vector<Path> files;
  for (fs::recursive_directory_iterator entry(root() / folder), end; entry != end; ++entry) {
    const Path file = entry->path().lexically_relative(root()).lexically_normal();
    if (entry->is_directory() && is_left_out(file)) entry.disable_recursion_pending();
    if (entry->is_regular_file() && is_wanted(file, extensions)) files.push_back(file);
  }
  std::ranges::sort(files);
  return files;
}

std::vector<Path> cpp_files(const Path& folder) {
  return files_under(folder, {".cpp", ".hpp"});
}

std::vector<Path> cpp_files() {
  std::vector<Path> files;
  for (const char* folder : {"sim", "tools", "tests"}) std::ranges::copy(cpp_files(folder), std::back_inserter(files));
  return files;
}

std::string text_of(const Path& file) {
  std::ifstream stream(root() / file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> lines_of(const Path& file) {
  return split_lines(text_of(file));
}

std::vector<std::string> code_lines_of(const Path& file) {
  return split_lines(without_comments_and_literals(text_of(file)));
}

bool is_there(const Path& file) {
  return fs::exists(root() / file);
}

std::string violation(const Path& file, std::size_t index, const std::string& text) {
  return file.string() + ":" + std::to_string(index + 1) + ": " + text;
}

}  // namespace house
