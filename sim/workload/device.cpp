#include "workload/device.hpp"

#include <array>
#include <cctype>

#include "config/section.hpp"

namespace farandole {
namespace {

constexpr std::array precisions{Precision::fp32, Precision::fp16};

template <class T>
T read_positive(Section& section, std::string_view key, std::string_view expected) {
  const Value value = section.child(key);
  const T quantity = read<T>(value);
  if (!(quantity > T{})) value.fail(expected);
  return quantity;
}

std::map<Precision, FlopPerSecond> read_peaks(const Value& where) {
  Section section(where);
  std::map<Precision, FlopPerSecond> peaks;
  for (const Precision precision : precisions) {
    const auto key = name(precision);
    if (section.maybe(key)) peaks[precision] = read_positive<FlopPerSecond>(section, key, "a positive compute rate");
  }
  section.finish();
  if (peaks.empty()) where.fail("a peak rate for fp32 or fp16");
  return peaks;
}

double read_efficiency(const Value& where) {
  const double efficiency = read<Fraction>(where).value;
  if (!(efficiency > 0 && efficiency <= 1)) where.fail("a percentage above 0 % and up to 100 %");
  return efficiency;
}

Board read_board(const Value& where) {
  Section section(where);
  Board board;
  board.devices = read_at_least(section.child("devices"), 2);
  if (const auto slowdown = section.maybe_read<Fraction>("slowdown")) board.slowdown = slowdown->value;
  section.required<std::string>("source");
  section.finish();
  return board;
}

BytesPerSecond read_host(const Value& where) {
  Section section(where);
  const auto rate = read_positive<BytesPerSecond>(section, "memory_bandwidth", "a positive rate");
  section.required<std::string>("source");
  section.finish();
  return rate;
}

Measurement read_measurement(const Value& where) {
  Section section(where);
  Measurement row;
  row.set = section.required<std::string>("set");
  row.model = section.required<std::string>("model");
  row.variant = section.required<std::string>("variant");
  row.precision = read_precision(section.child("precision"));
  if (const auto batch = section.maybe("batch")) row.batch = read_at_least(*batch, 1);
  row.samples_per_second = read_positive<double>(section, "samples_per_second", "a positive number");
  row.source = section.required<std::string>("source");
  // For the reader of the file; nothing is computed from them.
  section.required<std::string>("confidence");
  section.maybe_read<std::string>("system");
  section.maybe_read<std::string>("software");
  section.finish();
  return row;
}

}  // namespace

std::string name(Precision precision) {
  return precision == Precision::fp32 ? "fp32" : "fp16";
}

Precision read_precision(const Value& where) {
  const auto text = read<std::string>(where);
  for (const Precision precision : precisions) {
    if (text == name(precision)) return precision;
  }
  where.fail_unknown("a precision", {"fp32", "fp16"});
}

Bytes element_size(Precision precision) {
  return precision == Precision::fp32 ? 4_B : 2_B;
}

namespace {

/// "8.0" is 80.
int read_compute_capability(const Value& where) {
  const auto text = read<std::string>(where);
  const bool is_version = text.size() == 3 && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
                          text[1] == '.' && std::isdigit(static_cast<unsigned char>(text[2])) != 0;
  if (!is_version) where.fail("a compute capability like \"8.0\"");
  return 10 * (text[0] - '0') + (text[2] - '0');
}

}  // namespace

Device read_device(const Value& where, const std::filesystem::path& file) {
  Section section(where);
  Device device;
  device.file = file;
  device.name = section.required<std::string>("name");
  device.summary = section.required<std::string>("summary");
  device.peak = read_peaks(section.child("peak"));
  device.memory_bandwidth = read_positive<BytesPerSecond>(section, "memory_bandwidth", "a positive rate");
  device.memory = read_positive<Bytes>(section, "memory", "a positive size");
  device.asynchronous = section.optional("asynchronous", true);
  device.host_memory_bandwidth = device.memory_bandwidth;
  if (const auto host = section.maybe("host")) {
    if (!device.asynchronous) host->fail("no \"host\" of a device that is a processor itself");
    device.host_memory_bandwidth = read_host(*host);
  }
  if (const auto board = section.maybe("board")) device.board = read_board(*board);
  if (const auto capability = section.maybe("compute_capability")) {
    device.compute_capability = read_compute_capability(*capability);
  }
  if (const auto count = section.maybe("multiprocessors")) device.multiprocessors = read_at_least(*count, 1);
  device.assumed_efficiency = read_efficiency(section.child("assumed_efficiency"));
  section.required<std::string>("source");
  for (const Value& row : section.child("measurements").elements()) {
    device.measurements.push_back(read_measurement(row));
  }
  section.finish();
  return device;
}

}  // namespace farandole
