#include <cmath>
#include <filesystem>

#include "calibration/readers/readers.hpp"
#include "config/section.hpp"

namespace farandole::inline calibration {
namespace {

struct Header {
  std::string operation;
  int ranks = 0;
  std::optional<int> nodes;
};

/// Versions differ in where they keep these, and in whether they do.
Header read_header(const Value& root) {
  Header header;
  Section section(root);
  for (const char* key : {"collective_test", "test", "collective", "name", "program"}) {
    const auto value = section.maybe(key);
    if (!value || !value->is_string()) continue;
    std::string name = read<std::string>(*value);
    if (name.ends_with("_perf")) name.resize(name.size() - std::string_view("_perf").size());
    if (const auto known = operation_called(name)) header.operation = *known;
  }
  for (const char* key : {"config", "configuration"}) {
    const auto config = section.maybe(key);
    if (!config) continue;
    Section inner(*config);
    for (const char* ranks : {"nranks", "n_ranks", "ranks", "total_ranks"}) {
      if (const auto value = inner.maybe(ranks)) header.ranks = read_at_least(*value, 1);
    }
  }
  if (const auto devices = section.maybe("devices"); devices && header.ranks == 0)
    header.ranks = static_cast<int>(devices->elements().size());
  return header;
}

MeasuredTime read_row(const Value& value, const Header& header, const std::string& family) {
  Section section(value);
  MeasuredTime row;
  row.place = value.place();
  row.family = family;
  row.operation = header.operation;
  row.ranks = header.ranks;
  row.nodes = header.nodes;
  const Value size = section.child("size");
  const auto bytes = read<double>(size);
  if (!(bytes >= 0 && bytes <= most_bytes) || bytes != std::floor(bytes))
    size.fail("a whole number of bytes up to 16 TiB");
  row.bytes = Bytes(bytes);
  Section side(section.child("out_of_place"));
  const Value time = side.child("time");
  const auto microseconds = read<double>(time);
  if (microseconds <= 0) time.fail("microseconds above zero");
  row.time = Seconds(microseconds * 1e-6);
  if (!is_measurable(row.time / Seconds(1))) time.fail(measurable_time);
  if (row.bytes == Bytes(0)) row.doubt = "no bytes";
  return row;
}

}  // namespace

bool is_nccl_tests_json(std::string_view text) {
  return text.find("\"out_of_place\"") != std::string_view::npos;
}

std::vector<MeasuredTime> read_nccl_tests_json(const MeasuredText& file) {
  const Document document = Document::parse(file.text, file.name);
  const Header header = read_header(document.root());
  Section section(document.root());
  std::vector<MeasuredTime> rows;
  for (const Value& value : section.child("results").elements())
    rows.push_back(read_row(value, header, std::filesystem::path(file.name).stem().string()));
  return rows;
}

}  // namespace farandole::inline calibration
