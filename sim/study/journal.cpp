#include "study/journal.hpp"

#include <cerrno>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <boost/crc.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "config/error.hpp"

namespace farandole {
namespace {

constexpr std::size_t digits = 16;

std::optional<Record> entry_of(std::string_view line) {
  if (line.size() <= digits || line[digits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(digits + 1);
  if (checksum(text) != line.substr(0, digits)) return std::nullopt;
  Record record = Record::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  return record;
}

/// Journals of large studies exceed what read_text() takes for an input.
std::string whole_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw InputError(fmt::format("cannot read {}", file.string()));
  return text.str();
}

bool take(JournalContents& contents, std::string_view line) {
  std::optional<Record> entry = entry_of(line);
  if (!entry) return false;
  if (contents.heading.is_null()) {
    contents.heading = std::move(*entry);
    return true;
  }
  const auto index = entry->find("index");
  if (index == entry->end() || !index->is_number_unsigned() || !entry->contains("point")) return false;
  return contents.points.emplace(index->get<std::size_t>(), entry->at("point")).second;
}

}  // namespace

std::string checksum(std::string_view text) {
  boost::crc_optimal<64, 0x42F0E1EBA9EA3693U, ~0ULL, ~0ULL, true, true> crc;
  crc.process_bytes(text.data(), text.size());
  return fmt::format("{:016x}", crc.checksum());
}

std::string journal_line(const Record& record) {
  const std::string text = json_text(record);
  return checksum(text) + " " + text + "\n";
}

Record journal_entry(std::size_t index, const Record& point) {
  return {{"index", index}, {"point", point}};
}

JournalContents read_journal(const std::filesystem::path& file) {
  const std::string text = whole_text(file);
  JournalContents contents;
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    const bool whole = end != std::string::npos && take(contents, std::string_view(text).substr(begin, end - begin));
    if (!whole) {
      const bool last = end == std::string::npos || end + 1 == text.size();
      if (!last) throw InputError(Place{file.string(), number, ""}, "a whole line of a journal", "a damaged one");
      contents.torn = true;
      return contents;
    }
    begin = contents.whole_bytes = end + 1;
  }
  return contents;
}

Journal::Journal(std::filesystem::path file) : file_(std::move(file)) {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
  // This lock belongs to the process, not to its forked workers, and ends with it.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(descriptor_, F_SETLK, &lock) != 0) {
    ::close(descriptor_);
    throw InputError(fmt::format("cannot write {}: another run is writing it", file_.string()));
  }
}

Journal::~Journal() {
  ::close(descriptor_);
}

void Journal::cut(std::size_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail();
}

void Journal::append(const Record& record) {
  const std::string line = journal_line(record);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    written += static_cast<std::size_t>(count);
  }
  if (::fsync(descriptor_) != 0) fail();
}

void Journal::remove() {
  std::filesystem::remove(file_);
}

void Journal::fail() const {
  throw InputError(fmt::format("cannot write {}: {}", file_.string(), std::generic_category().message(errno)));
}

}  // namespace farandole
