#include "workload/device.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "config/named.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace workload {
namespace {

struct PrecisionRow {
  Precision precision;
  const char* name;
  Bytes element;
};

constexpr std::array precisions{PrecisionRow{Precision::fp32, "fp32", 4_B}, PrecisionRow{Precision::tf32, "tf32", 4_B},
                                PrecisionRow{Precision::bf16, "bf16", 2_B}, PrecisionRow{Precision::fp16, "fp16", 2_B},
                                PrecisionRow{Precision::fp8, "fp8", 2_B},   PrecisionRow{Precision::int8, "int8", 1_B}};

const PrecisionRow& precision_row_of(Precision precision) {
  return *std::ranges::find(precisions, precision, &PrecisionRow::precision);
}

constexpr std::array normalisation_names{"separate", "with_activation", "statistics_in_convolution", "in_convolution"};

std::map<Precision, FlopPerSecond> read_peaks(const Value& where) {
  Section section(where);
  std::map<Precision, FlopPerSecond> peaks;
  for (const PrecisionRow& row : precisions) {
    if (!section.maybe(row.name)) continue;
    peaks[row.precision] = section.above_zero<FlopPerSecond>(row.name);
  }
  section.finish();
  if (peaks.empty()) where.fail("a peak rate for fp32, tf32, bf16, fp16 or fp8");
  return peaks;
}

Board read_board(const Value& where) {
  Section section(where);
  Board board;
  board.devices = read_at_least(section.child("devices"), 2);
  if (const auto slowdown = section.maybe_read<Fraction>("slowdown")) board.slowdown = slowdown->value;
  section.required<Text>("source");
  section.finish();
  return board;
}

BytesPerSecond read_host(const Value& where) {
  Section section(where);
  const auto rate = section.above_zero<BytesPerSecond>("memory_bandwidth");
  section.required<Text>("source");
  section.finish();
  return rate;
}

Measurement read_measurement(const Value& where) {
  Section section(where);
  Measurement row;
  row.set = section.required<Text>("set").value;
  row.model = section.required<Text>("model").value;
  row.variant = section.required<Text>("variant").value;
  row.precision = read_precision(section.child("precision"));
  if (const auto kind = section.maybe("normalisation")) {
    row.normalisation = read_normalisation(*kind);
    section.required<Text>("normalisation_source");
  }
  if (const auto batch = section.maybe("batch")) row.batch = read_at_least(*batch, 1);
  row.samples_per_second = section.above_zero<double>("samples_per_second");
  row.source = section.required<Text>("source").value;
  // For the reader of the file; nothing is computed from them.
  section.required<Text>("confidence");
  section.maybe_read<Text>("system");
  section.maybe_read<std::string>("outside_fit");
  section.maybe_read<Text>("software");
  section.finish();
  return row;
}

}  // namespace

std::string name(Normalisation normalisation) {
  return normalisation_names.at(static_cast<std::size_t>(normalisation));
}

Normalisation read_normalisation(const Value& where) {
  return static_cast<Normalisation>(read_place(where, "a way to normalise", normalisation_names));
}

std::string name(Precision precision) {
  return precision_row_of(precision).name;
}

Precision read_precision(const Value& where) {
  const auto of_training = std::span(precisions).first<precisions.size() - 1>();  // int8 is the last
  return read_named(where, "a precision that training computes in", of_training, &PrecisionRow::name).precision;
}

Bytes element_size(Precision precision) {
  return precision_row_of(precision).element;
}

namespace {

/// "8.0" is 80, "10.0" is 100.
int read_compute_capability(const Value& where) {
  const auto text = read<std::string>(where);
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto point = text.find('.');
  const bool is_version = (point == 1 || point == 2) && text.size() == point + 2 && is_digit(text.back()) &&
                          std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(point), is_digit);
  if (!is_version) where.fail("a compute capability like \"8.0\"");
  return 10 * std::stoi(text.substr(0, point)) + (text.back() - '0');
}

std::string read_gfx(const Value& where) {
  auto text = read<std::string>(where);
  const auto is_digit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || (c >= 'a' && c <= 'f');
  };
  const bool is_target = text.starts_with("gfx") && (text.size() == 6 || text.size() == 7) &&
                         std::all_of(text.begin() + 3, text.end(), is_digit);
  if (!is_target) where.fail("a target of LLVM's like \"gfx90a\"");
  return text;
}

}  // namespace

Device read_device(const Value& where, const std::filesystem::path& file) {
  Section section(where);
  Device device;
  device.file = file;
  device.name = section.required<Name>("name").value;
  device.summary = section.required<Text>("summary").value;
  device.peak = read_peaks(section.child("peak"));
  device.memory_bandwidth = section.above_zero<BytesPerSecond>("memory_bandwidth");
  device.memory = section.above_zero<Bytes>("memory");
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
  if (const auto target = section.maybe("gfx")) device.gfx = read_gfx(*target);
  if (const auto count = section.maybe("multiprocessors")) device.multiprocessors = read_at_least(*count, 1);
  if (const auto share = section.maybe("assumed_efficiency")) device.assumed_efficiency = read_part(*share);
  device.generation = section.optional<Name>("generation", {}).value;
  if (device.generation.empty() && device.assumed_efficiency == 0) {
    where.fail("a \"generation\" whose kernels are known, or an \"assumed_efficiency\"", "neither");
  }
  section.required<Text>("source");
  device.measurements = mapped(section.child("measurements").elements(), read_measurement);
  section.finish();
  return device;
}

namespace {

MathRates read_math(const Value& where) {
  Section section(where);
  MathRates rates;
  rates.convolution = section.above_zero<double>("convolution");
  rates.convolution_half = section.above_zero<double>("convolution_half");
  rates.matmul = section.above_zero<double>("matmul");
  rates.matmul_half = section.above_zero<double>("matmul_half");
  section.finish();
  return rates;
}

/// A generation differs from the mean by factors.
void apply_generation(const Value& where, KernelRates& rates) {
  Section section(where);
  rates.known = true;
  rates.tensor_units = section.required<bool>("tensor_units");
  rates.memory *= section.above_zero<double>("memory");
  rates.vector.convolution *= section.above_zero<double>("vector_convolution");
  rates.vector.matmul *= section.above_zero<double>("vector_matmul");
  const double convolution = section.above_zero<double>("tensor_convolution");
  const double matmul = section.above_zero<double>("tensor_matmul");
  section.finish();
  for (MathRates* math : {&rates.tensor16, &rates.tensor32}) {
    math->convolution *= convolution;
    math->matmul *= matmul;
  }
}

}  // namespace

KernelRates read_kernel_rates(const Value& where, const std::string& generation) {
  Section section(where);
  KernelRates rates;
  rates.generation = generation;
  rates.tensor_units = true;
  for (const char* key : {"summary", "source", "command"}) section.required<Text>(key);
  rates.launch = section.required<Seconds>("launch");
  rates.tail = section.above_zero<double>("tail");
  rates.memory = section.above_zero<double>("memory");
  rates.fast_filters = section.above_zero<double>("fast_filters");
  rates.vector = read_math(section.child("vector"));
  rates.tensor16 = read_math(section.child("tensor16"));
  rates.tensor32 = read_math(section.child("tensor32"));
  section.child("bands");    // workload/device.hpp
  section.maybe("carried");  // scenario/anchor.hpp
  const double pointwise = section.above_zero<double>("pointwise");
  for (const auto& [name, factors] : section.child("generations").members()) {
    if (name == generation) apply_generation(factors, rates);
  }
  rates.pointwise = pointwise * rates.memory;
  section.finish();
  return rates;
}

namespace {

TimeBand read_band(const Value& where) {
  const std::vector<Value> ends = where.elements();
  if (ends.size() != 2) where.fail("two factors of the time, the least and the most");
  const TimeBand band{read<double>(ends[0]), read<double>(ends[1])};
  if (!(band.least > 0 && band.least <= 1 && band.most >= 1)) where.fail("a factor up to 1 and one from 1 on");
  return band;
}

}  // namespace

EstimateBands read_estimate_bands(const Value& where) {
  Section section(where);
  EstimateBands bands;
  bands.probability = section.required<double>("probability");
  bands.families = section.required<std::vector<std::string>>("families");
  bands.model = read_band(section.child("model"));
  bands.family = read_band(section.child("family"));
  bands.precision = read_band(section.child("precision"));
  bands.device = read_band(section.child("device"));
  bands.generation = read_band(section.child("generation"));
  bands.constant_share = read_band(section.child("constant_share"));
  const Value doubled = section.child("batch_doubled");
  bands.batch_doubled = read<double>(doubled);
  if (!(bands.batch_doubled >= 1)) doubled.fail("a factor from 1 on");
  section.finish();
  return bands;
}

TimeBand band_beside(const std::vector<int>& batches, int batch, double batch_doubled, const TimeBand& estimate) {
  double doublings = HUGE_VAL;
  for (const int measured : batches) {
    doublings = std::min(doublings, std::abs(std::log2(static_cast<double>(batch) / measured)));
  }
  const double spread = std::pow(batch_doubled, doublings);
  return {std::max(1 / spread, estimate.least), std::min(spread, estimate.most)};
}

std::string describe(const TimeBand& band) {
  return fmt::format("{:+.0f} to {:+.0f} %", 100 * (band.least - 1), 100 * (band.most - 1));
}

}}  // namespace farandole::workload
