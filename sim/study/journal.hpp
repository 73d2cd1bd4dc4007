// The journal of a study: finished points on disk, one line each, as they finish.
//
// Called by study/study.hpp and study/study.hpp. A line is 16 hexadecimal digits, the CRC-64 of what follows, a space
// and a JSON text. The first line says which study this is; every other one holds {"index", "point"}. A line is written
// at once and synced before the next, so that only the last can be torn, whatever ends the program. A shard's file has
// the same form.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "report/record.hpp"

namespace farandole { inline namespace study {

/// CRC-64 (ECMA-182, reflected) as 16 hexadecimal digits.
std::string checksum(std::string_view text);

std::string journal_line(const Record& record);
Record journal_entry(std::size_t index, const Record& point);

struct JournalContents {
  Record heading;  // null where not even the first line is whole
  std::map<std::size_t, Record> points;
  std::size_t whole_bytes = 0;  // up to the end of the last whole line
  bool torn = false;            // whether more follows
};

/// InputError where the file cannot be read, or a line that is not the last is damaged.
JournalContents read_journal(const std::filesystem::path& file);
/// The same of what stands in `file`.
JournalContents read_journal(std::string_view text, const std::filesystem::path& file);

/// The point of an entry; InputError at `file` where the record is not one that a run writes.
TrainingPoint journal_point(const Record& record, std::size_t index, const std::filesystem::path& file);

/// A journal open for writing; at most one program has it open at a time.
class Journal {
 public:
  /// Makes the file where there is none, and reads it where there is one, once no other program has it. InputError
  /// where another has, where it is a link or no regular file, and where something else than a journal stands there:
  /// all these stay as they are. OutputError where it cannot be made.
  explicit Journal(std::filesystem::path file);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// What it held when it was opened.
  [[nodiscard]] const JournalContents& found() const { return found_; }

  /// Forgets what follows `bytes`.
  void cut(std::size_t bytes);
  void append(const Record& record);
  /// Takes the file away, unless it is another one by now.
  void remove();

 private:
  [[noreturn]] void fail() const;
  bool open();
  void lock() const;
  [[nodiscard]] std::string text() const;

  std::filesystem::path file_;
  int descriptor_ = -1;
  JournalContents found_;
};

}}  // namespace farandole::study
