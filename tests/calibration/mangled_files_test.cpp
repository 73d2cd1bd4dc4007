// Measured files that were cut off, shuffled, or put together from others: read or refused, never a crash, never
// nothing at all.
#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "calibration/read_measurements.hpp"
#include "calibration/samples.hpp"
#include "calibration/trace_samples.hpp"
#include "calibration/traces/traces.hpp"

namespace farandole::mangled_files_test { namespace {

constexpr std::array samples{test::points_json,      test::lab_lines, test::nccl_tests_text, test::nccl_tests_json,
                             test::osu_latency_text, test::osu_text,  test::imb_text};

/// Reads it, or is refused in one line that names the file.
void survives(const std::string& text) {
  try {
    const auto rows = read_measurements({"m.txt", text}, {"allreduce", "ring", 2, 1});
    RC_ASSERT(!rows.empty());
    for (const MeasuredTime& row : rows) {
      RC_ASSERT(row.time > Seconds(0));
      RC_ASSERT(row.bytes >= Bytes(0));
      RC_ASSERT(row.ranks >= 1);
    }
  } catch (const InputError& error) {
    const std::string message = error.what();
    RC_ASSERT(message.starts_with("m.txt"));
    RC_ASSERT(message.find('\n') == std::string::npos);
  }
}

std::string any_sample() {
  return samples[*rc::gen::inRange<std::size_t>(0, samples.size())];
}

std::size_t place_in(const std::string& text) {
  return *rc::gen::inRange<std::size_t>(0, text.size() + 1);
}

RC_GTEST_PROP(MangledFiles, CutOffAnywhereTheyAreReadOrRefused, ()) {
  const std::string text = any_sample();
  survives(text.substr(0, place_in(text)));
}

RC_GTEST_PROP(MangledFiles, WithoutAPieceTheyAreReadOrRefused, ()) {
  std::string text = any_sample();
  text.erase(place_in(text), *rc::gen::inRange<std::size_t>(1, 80));
  survives(text);
}

RC_GTEST_PROP(MangledFiles, WithAByteChangedTheyAreReadOrRefused, ()) {
  std::string text = any_sample();
  text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  survives(text);
}

RC_GTEST_PROP(MangledFiles, WithLinesInAnotherOrderTheyAreReadOrRefused, ()) {
  const std::string text = any_sample();
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string shuffled;
  while (!lines.empty()) {
    const auto at = lines.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(lines.size()));
    shuffled += *at + '\n';
    lines.erase(at);
  }
  survives(shuffled);
}

RC_GTEST_PROP(MangledFiles, TwoOfThemInOneAreReadOrRefused, ()) {
  const std::string first = any_sample();
  const std::string second = any_sample();
  survives(first.substr(0, place_in(first)) + second.substr(place_in(second)));
}

/// The workload of a trace can be read as a model, or the trace is refused in one line that names the file.
template <class Read>
void survives_as_workload(Read read) {
  try {
    const TracedWorkload workload = read();
    RC_ASSERT(!workload.layers.empty());
    const Document file = workload_file(workload, "model.schema.json");
    RC_ASSERT(!read_model(file.root(), "model.json").variants.empty());
  } catch (const InputError& error) {
    const std::string message = error.what();
    RC_ASSERT(message.find(".json") != std::string::npos);
    RC_ASSERT(message.find('\n') == std::string::npos);
  }
}

std::string mangled(std::string text) {
  switch (*rc::gen::inRange(0, 3)) {
    case 0:
      return text.substr(0, place_in(text));
    case 1:
      return text.erase(place_in(text), *rc::gen::inRange<std::size_t>(1, 200));
    default:
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
      return text;
  }
}

RC_GTEST_PROP(MangledFiles, TimelinesOfHorovodBecomeAWorkloadOrAreRefused, ()) {
  const std::string text = mangled(test::horovod_timeline());
  survives_as_workload([&] { return read_horovod_timeline(text, "t.json").workload; });
}

RC_GTEST_PROP(MangledFiles, TracesOfPytorchBecomeAWorkloadOrAreRefused, ()) {
  const std::string text = mangled(test::profiler_trace());
  Model model;
  for (const char* type : {"conv2d", "linear"}) {
    model.layers.push_back({});
    model.layers.back().name = type;
    model.layers.back().type = type;
    model.layers.back().input_elements = model.layers.back().output_elements = 1;
  }
  survives_as_workload([&] { return read_pytorch_profiler(text, "t.json", model, 1).workload; });
}

}}  // namespace farandole::mangled_files_test
