#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "calibration/readers/readers.hpp"
#include "config/limits.hpp"
#include "config/section.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr int most_nccl_ranks = 1 << 20;

struct Header {
  std::string operation;
  int ranks = 0;
  std::optional<int> nodes;
  int devices_per_process = 1;
};

void take_program(Header& header, std::string name) {
  name.erase(0, name.rfind('/') + 1);
  constexpr std::string_view ending = "_perf";
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  if (name == "sendrecv") header.operation = exchange;
  if (const auto known = operation_called(name)) header.operation = *known;
}

/// Each process lists the first of its devices: all ranks are those of the distance between two of them.
void take_devices(Header& header, const Value& list, std::int64_t devices_per_process) {
  std::set<std::string> hosts;
  std::vector<int> ranks;
  for (const Value& device : list.elements()) {
    Section section(device);
    if (const auto rank = section.maybe("rank")) ranks.push_back(read_between(*rank, 0, most_nccl_ranks));
    if (const auto host = section.maybe("hostname")) hosts.insert(read<std::string>(*host));
  }
  const auto listed = static_cast<std::int64_t>(list.elements().size());
  const std::int64_t of_a_process = ranks.size() > 1 && ranks[1] > ranks[0] ? ranks[1] - ranks[0] : devices_per_process;
  if (listed * of_a_process > most_nccl_ranks) list.fail("at most 1,048,576 ranks");
  header.ranks = static_cast<int>(listed * of_a_process);
  if (!hosts.empty()) header.nodes = static_cast<int>(hosts.size());
}

void take_config(Header& header, const Value& config) {
  Section section(config);
  for (const char* ranks : {"nranks", "n_ranks", "ranks", "total_ranks"}) {
    if (const auto value = section.maybe(ranks)) header.ranks = read_at_least(*value, 1);
  }
  const auto devices = section.maybe("ngpus");
  if (devices) header.devices_per_process = read_between(*devices, 1, most_nccl_ranks);
  const auto threads = section.maybe("nthreads");
  const std::int64_t of_a_process =
      std::int64_t{threads ? read_between(*threads, 1, most_nccl_ranks) : 1} * header.devices_per_process;
  if (const auto list = section.maybe("devices"); list && header.ranks == 0) take_devices(header, *list, of_a_process);
}

/// Versions differ in where they keep these, and in whether they do.
Header read_header(const Value& root) {
  Header header;
  Section section(root);
  if (const auto arguments = section.maybe("args"); arguments && arguments->is_array()) {
    const auto words = arguments->elements();
    if (!words.empty() && words.front().is_string()) take_program(header, read<std::string>(words.front()));
  }
  for (const char* key : {"collective_test", "test", "collective", "name", "program"}) {
    const auto value = section.maybe(key);
    if (value && value->is_string()) take_program(header, read<std::string>(*value));
  }
  for (const char* key : {"config", "configuration"}) {
    if (const auto config = section.maybe(key)) take_config(header, *config);
  }
  if (const auto devices = section.maybe("devices"); devices && header.ranks == 0)
    header.ranks = static_cast<int>(devices->elements().size());
  return header;
}

/// Of versions that time every iteration (-I).
std::optional<Repetitions> repetitions_in(Section& row) {
  const auto each = row.maybe("out_of_place_per_iter");
  if (!each || !each->is_object()) return std::nullopt;
  Section section(*each);
  const auto times = section.maybe("times_us");
  const auto variation = section.maybe("cv_pct");
  if (!times || !variation || times->elements().size() < 2) return std::nullopt;
  const auto percent = read<double>(*variation);
  if (!(percent >= 0)) variation->fail("a share in percent");
  return Repetitions{static_cast<int>(times->elements().size()), percent / 100};
}

MeasuredTime read_nccl_row(const Value& value, const Header& header, const std::string& family) {
  Section section(value);
  MeasuredTime row;
  row.place = value.place();
  row.family = family;
  row.operation = header.operation;
  row.ranks = header.ranks;
  row.nodes = header.nodes;
  row.devices_per_process = header.devices_per_process;
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
  row.repetitions = repetitions_in(section);
  const auto wrong = side.maybe("nwrong");
  if (wrong && wrong->describe() != "null" && read<double>(*wrong) >= 1) row.doubt = "wrong results";
  if (row.bytes == Bytes(0)) row.doubt = "no bytes";
  if (row.operation == exchange && row.ranks != 2) value.fail("sendrecv_perf between 2 ranks");
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
    rows.push_back(read_nccl_row(value, header, std::filesystem::path(file.name).stem().string()));
  return rows;
}

}}  // namespace farandole::calibration
