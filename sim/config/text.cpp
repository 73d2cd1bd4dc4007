#include "config/text.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/error.hpp"

namespace farandole { inline namespace config {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// How many bytes the character led by `lead` has; 0 where no character starts so.
std::size_t length_announced_by(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// Overlong forms, surrogates and code points past U+10FFFF differ from good ones in their second byte only.
bool second_byte_fits(unsigned lead, unsigned second) {
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return least <= second && second <= most;
}

/// The length of the UTF-8 character that starts at `start`; 0 where there is none.
std::size_t character_length(std::string_view text, std::size_t start) {
  const std::size_t length = length_announced_by(byte_at(text, start));
  if (length == 0 || text.size() - start < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, start + i) & 0xC0U) != 0x80U) return 0;
  }
  return length < 2 || second_byte_fits(byte_at(text, start), byte_at(text, start + 1)) ? length : 0;
}

std::string escape(unsigned byte) {
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return fmt::format("\\x{:02x}", byte);
  }
}

/// Terminals obey the C1 control characters (U+0080 to U+009F) as they do the old ones.
bool is_control(std::string_view character) {
  const unsigned lead = byte_at(character, 0);
  return lead < 0x20 || lead == 0x7F || (lead == 0xC2 && byte_at(character, 1) < 0xA0);
}

}  // namespace

std::size_t utf8_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = byte_at(text, i) < 0x80 ? 1 : character_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return i;
}

bool is_utf8(std::string_view text) {
  return utf8_prefix(text) == text.size();
}

std::string one_line(std::string_view text, std::size_t limit) {
  std::string result;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++characters) {
    if (characters == limit) return result + "...";
    const std::size_t length = character_length(text, i);
    const auto character = text.substr(i, length == 0 ? 1 : length);
    if (length == 0 || is_control(character)) {
      for (std::size_t k = 0; k < character.size(); ++k) result += escape(byte_at(character, k));
    } else {
      result += character;
    }
    i += character.size();
  }
  return result;
}

namespace {

constexpr std::size_t largest_file = std::size_t{64} << 20U;
constexpr int patience = 15'000;  // milliseconds, for the next bytes of a pipe

[[noreturn]] void refuse_file(const std::filesystem::path& file, std::string_view got) {
  throw InputError(fmt::format("{}: expected a readable file, got {}", file.string(), got));
}

[[noreturn]] void refuse_errno(const std::filesystem::path& file) {
  refuse_file(file, fmt::format("\"{}\"", std::generic_category().message(errno)));
}

[[noreturn]] void refuse_text(const std::filesystem::path& file, std::string_view before, std::string_view got) {
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw InputError(Place{file.string(), static_cast<int>(line), ""}, "text in UTF-8", got);
}

/// Open, without waiting for a writer; closed with its scope.
class Source {
 public:
  explicit Source(const std::filesystem::path& file)
      : file_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (descriptor_ < 0) refuse_errno(file_);
  }
  ~Source() { ::close(descriptor_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Devices have no end, or one that nobody knows.
  void refuse_what_is_no_text() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) refuse_errno(file_);
    if (S_ISDIR(status.st_mode)) refuse_file(file_, "a directory");
    if (S_ISREG(status.st_mode) && status.st_size > static_cast<off_t>(largest_file)) refuse_size();
    const bool is_device = S_ISBLK(status.st_mode) || (S_ISCHR(status.st_mode) && ::isatty(descriptor_) == 0);
    if (is_device) refuse_file(file_, "a device");
  }

  /// By pieces, because pipes do not tell their size.
  [[nodiscard]] std::string text() const {
    std::string text;
    std::string piece(std::size_t{1} << 16U, '\0');
    while (const std::size_t count = next(piece)) {
      text.append(piece, 0, count);
      if (text.size() > largest_file) refuse_size();
    }
    return text;
  }

 private:
  [[noreturn]] void refuse_size() const { refuse_file(file_, "more than 64 MiB"); }

  /// How many bytes came; 0 at the end. A pipe that nobody has opened yet looks like one that has ended, so it is asked
  /// for bytes or the end first.
  std::size_t next(std::string& piece) const {
    while (true) {
      pollfd waiting{descriptor_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, patience);
      if (ready == 0) refuse_file(file_, "nothing for 15 seconds");
      const ssize_t count = ready < 0 ? -1 : ::read(descriptor_, piece.data(), piece.size());
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR && errno != EAGAIN) refuse_errno(file_);
    }
  }

  const std::filesystem::path& file_;
  int descriptor_;
};

/// "UTF-16" where the text begins with the mark of another encoding.
std::optional<std::string_view> other_encoding(std::string_view text) {
  using namespace std::string_view_literals;
  if (text.starts_with("\xFF\xFE\0\0"sv) || text.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv)) return "UTF-16";
  if (text.starts_with("\x1F\x8B"sv)) return "a compressed file";
  return std::nullopt;
}

/// Readers of lines would take a zero byte, or half of another encoding, for letters.
void refuse_other_encodings(std::string_view text, const std::filesystem::path& file) {
  if (const auto encoding = other_encoding(text)) refuse_text(file, "", *encoding);
  if (const auto zero = text.find('\0'); zero != std::string_view::npos) {
    refuse_text(file, text.substr(0, zero), "a zero byte");
  }
  const std::size_t good = utf8_prefix(text);
  if (good < text.size()) refuse_text(file, text.substr(0, good), "bytes that are not UTF-8");
}

}  // namespace

std::string read_text(const std::filesystem::path& file) {
  const Source source(file);
  source.refuse_what_is_no_text();
  std::string text = source.text();
  refuse_other_encodings(text, file);
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.erase(0, mark.size());
  return text;
}

}}  // namespace farandole::config
