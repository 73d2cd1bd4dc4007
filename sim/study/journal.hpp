// The journal of a study: finished points on disk, one line each, as they finish.
//
// Called by study/study.hpp and study/merge.hpp. A line is 16 hexadecimal digits, the CRC-64 of what follows, a space
// and a JSON text. The first line says which study this is; every other one holds {"index", "point"}. A line is written
// at once and synced before the next, so that only the last can be torn, whatever ends the program. A shard's file has
// the same form.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "report/record.hpp"

namespace farandole {

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

/// A journal open for writing; at most one program has it open at a time.
class Journal {
 public:
  /// Makes the file where there is none. InputError where that fails or another program writes it.
  explicit Journal(std::filesystem::path file);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Forgets what follows `bytes`.
  void cut(std::size_t bytes);
  void append(const Record& record);
  void remove();

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace farandole
