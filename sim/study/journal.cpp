#include "study/journal.hpp"

#include <cerrno>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <boost/crc.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/error.hpp"
#include "config/section.hpp"
#include "report/output_file.hpp"

namespace farandole { inline namespace study {
namespace {

constexpr std::size_t digits = 16;
/// Nothing where the text is no JSON, or is nested deeper than documents may be: printing and comparing records takes
/// the stack for each level.
std::optional<Record> parsed(std::string_view text) {
  bool is_deep = false;
  const auto look = [&](int levels, Record::parse_event_t event, const Record& /*value*/) {
    const bool opens = event == Record::parse_event_t::object_start || event == Record::parse_event_t::array_start;
    is_deep |= opens && static_cast<std::size_t>(levels) >= most_levels;
    return !is_deep;
  };
  Record record = Record::parse(text, look, false);
  if (is_deep || record.is_discarded()) return std::nullopt;
  return record;
}

std::optional<Record> entry_of(std::string_view line) {
  if (line.size() <= digits || line[digits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(digits + 1);
  if (checksum(text) != line.substr(0, digits)) return std::nullopt;
  std::optional<Record> record = parsed(text);
  if (!record || !record->is_object()) return std::nullopt;
  return record;
}

/// No time, rate or number of ranks is negative, whatever its checksum says; signed are differences and parts of a sum.
void refuse_negative(const Record& record) {
  for (const auto& [key, value] : record.items()) {
    if (key == "settings") continue;
    if (value.is_structured()) refuse_negative(value);
    const bool is_amount = key.ends_with("seconds") || key.ends_with("per_second") || key.ends_with("ranks");
    if (is_amount && value.is_number() && value < 0) throw std::logic_error(key + " below zero");
  }
}

/// Journals of large studies exceed what read_text() takes for an input.
std::string whole_text(const std::filesystem::path& file) {
  std::error_code none;
  if (std::filesystem::exists(file, none) && !std::filesystem::is_regular_file(file, none)) {
    throw InputError(Place{file.string(), 0, ""}, "a shard of farandole run", "something that is no regular file");
  }
  std::ifstream stream(file, std::ios::binary);
  std::string head(digits + 2, '\0');  // a checksum and the beginning of a record
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (!stream && !stream.eof())
    throw InputError(Place{file.string(), 0, ""}, "a shard of farandole run", "no readable file");
  if (!stream || !head.ends_with(" {")) {  // whatever it is, and however large
    throw InputError(Place{file.string(), 1, ""}, "a journal or shard of farandole run", "another file");
  }
  std::string text = std::move(head);
  std::string piece(std::size_t{1} << 16U, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) || stream.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) throw InputError(Place{file.string(), 0, ""}, "a shard of farandole run", "no readable file");
  return text;
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

/// What is left of a journal whose first line was being written when the program ended: a checksum and how headings
/// begin, without an end. A number alone may be anybody's.
bool is_torn_heading(std::string_view text) {
  constexpr std::string_view begin = " {\"farandole\":";
  const std::string_view sum = text.substr(0, digits);
  return text.find('\n') == std::string_view::npos && text.size() > digits &&
         sum.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         begin.starts_with(text.substr(digits, begin.size()));
}

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view what) {
  throw InputError(Place{file.string(), 0, ""},
                   "the journal of a run, or nothing, where finished points are to be kept", what,
                   "; it stays as it is: move it away, or choose another --output");
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

JournalContents read_journal(std::string_view text, const std::filesystem::path& file) {
  JournalContents contents;
  int number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = text.find('\n', begin);
    const bool whole = end != std::string::npos && take(contents, text.substr(begin, end - begin));
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

JournalContents read_journal(const std::filesystem::path& file) {
  return read_journal(whole_text(file), file);
}

TrainingPoint journal_point(const Record& record, std::size_t index, const std::filesystem::path& file) {
  try {
    refuse_negative(record);
    return training_point(record);
  } catch (const std::logic_error&) {  // its words are about the program's own records
    throw InputError(Place{file.string(), 0, ""}, fmt::format("point {} as farandole run writes it", index + 1),
                     "an altered record");
  }
}

Journal::Journal(std::filesystem::path file) : file_(std::move(file)) {
  while (!open()) {
  }
  try {
    const std::string held = text();
    found_ = read_journal(held, file_);
    if (found_.heading.is_null() && !held.empty() && !is_torn_heading(held)) refuse(file_, "a file of another kind");
    sync_folder_of(file_);  // the first synced line would be lost with its file's name
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

/// False where another run finished and took the file away meanwhile.
bool Journal::open() {
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  if (descriptor_ < 0 && errno == ELOOP) refuse(file_, "a link");
  if (descriptor_ < 0) fail();
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode)) refuse(file_, "something that is no regular file");
    lock();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  if (is_name_of(file_, descriptor_)) return true;
  ::close(descriptor_);
  return false;
}

/// The lock belongs to the process, not to its forked workers, and ends with it; or as soon as the process closes any
/// descriptor of the file, so that nothing else here may open it.
void Journal::lock() const {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (::fcntl(descriptor_, F_SETLK, &lock) == 0) return;
  if (errno != EACCES && errno != EAGAIN) fail();
  throw InputError(fmt::format("cannot write {}: another run is writing it", file_.string()));
}

std::string Journal::text() const {
  std::string text;
  std::string piece(std::size_t{1} << 16U, '\0');
  while (true) {
    const ssize_t count = ::pread(descriptor_, piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) return text;
    text.append(piece, 0, static_cast<std::size_t>(count));
  }
}

Journal::~Journal() {
  ::close(descriptor_);
}

void Journal::cut(std::size_t bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail();
}

void Journal::append(const Record& record) {
  const off_t begin = ::lseek(descriptor_, 0, SEEK_END);
  const std::string line = journal_line(record);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      static_cast<void>(::ftruncate(descriptor_, begin) == 0);  // whole lines only, where that can be
      throw OutputError(file_.string(), error);
    }
    written += static_cast<std::size_t>(count);
  }
  if (::fsync(descriptor_) != 0) fail();
}

void Journal::remove() {
  if (is_name_of(file_, descriptor_)) ::unlink(file_.c_str());
}

void Journal::fail() const {
  throw OutputError(file_.string(), errno);
}

}}  // namespace farandole::study
