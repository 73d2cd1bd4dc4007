#include "config/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "config/error.hpp"

namespace farandole {
namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20U;

[[noreturn]] void refuse_file(const std::filesystem::path& file, std::string_view got) {
  throw InputError(fmt::format("{}: expected a readable file, got {}", file.string(), got));
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse_file(file, "a directory");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse_file(file, fmt::format("\"{}\"", std::generic_category().message(errno)));
  // By pieces, because pipes and devices do not tell their size.
  std::string text;
  std::string piece(std::size_t{1} << 16U, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) || stream.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest_file) refuse_file(file, "more than 64 MiB");
  }
  if (stream.bad()) refuse_file(file, fmt::format("\"{}\"", std::generic_category().message(errno)));
  return text;
}

}  // namespace farandole
