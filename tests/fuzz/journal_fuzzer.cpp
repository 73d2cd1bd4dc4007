// libFuzzer target: a journal or a shard holds the points of a run, or is refused. Checksums are made right, which
// chance would not: they stand before every line that begins with '!', in its place, and @VERSION is the version of the
// program.
#include "fuzz/fuzz.hpp"
#include "report/heading.hpp"
#include "study/study.hpp"

namespace {

using namespace farandole;

std::string with_version(std::string line) {
  constexpr std::string_view mark = "@VERSION";
  const auto at = line.find(mark);
  return at == std::string::npos ? line : line.replace(at, mark.size(), version());
}

std::string with_checksums(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string line(text.substr(0, end));
    if (line.starts_with('!')) {
      line = with_version(line.substr(1));
      line.insert(0, checksum(line) + " ");
    }
    result += line;
    if (end == std::string_view::npos) break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

void read_points(const std::string& text) {
  const JournalContents contents = read_journal(text, "fuzz.partial");
  fuzz::require(contents.whole_bytes <= text.size(), "whole lines are of the file");
  fuzz::require(contents.torn == (contents.whole_bytes < text.size()), "what follows whole lines is torn");
  if (contents.heading.is_null()) return;
  const StudyHeading heading = study_heading(contents.heading, "fuzz.partial");
  fuzz::require(heading.shard.index >= 1 && heading.shard.index <= heading.shard.of, "a shard is one of all");
  fuzz::require(heading.shard.count(heading.points) <= heading.points, "a shard has some of the points");
  for (const auto& [index, record] : contents.points) {
    const TrainingPoint point = journal_point(record, index, "fuzz.partial");
    fuzz::require(to_record(point) == record, "a point is written as it was read");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::use_or_refuse([text = with_checksums(std::string(data, data + size))] { read_points(text); });
  return 0;
}
