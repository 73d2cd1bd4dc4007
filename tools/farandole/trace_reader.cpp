#include "trace_reader.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "calibration/traces/traces.hpp"
#include "command.hpp"
#include "config/section.hpp"
#include "config/text.hpp"
#include "nsys_table.hpp"

namespace farandole {
namespace {

[[noreturn]] void refuse_trace(const std::string& file, const std::string& expected, const std::string& got) {
  throw InputError(fmt::format("{}: expected {}, got {}", file, expected, got));
}

constexpr std::string_view profiler_step = "ProfilerStep#";
constexpr double microsecond = 1e-6;

std::string category_of(const ChromeEvent& event) {
  std::string text = event.category;
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

bool is_copy_category(const std::string& category) {
  return category.ends_with("memcpy") || category.ends_with("memset");
}

bool is_device_category(const std::string& category) {
  return category == "kernel" || is_copy_category(category);
}

/// What begins within a nanosecond begins together, and is in an order that a file's rounding does not change.
void sort_work(DeviceTrace& trace) {
  const auto key = [](const DeviceWork& work) {
    return std::tuple(std::round(work.begin * 1e9), std::string_view(work.lane), std::string_view(work.name));
  };
  std::ranges::stable_sort(trace.work, {}, key);
}

/// From the begin of each to that of the next; the last to its end.
void take_marks(DeviceTrace& trace, std::vector<StepWindow> marks) {
  std::ranges::sort(marks, {}, &StepWindow::begin);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const double end = i + 1 < marks.size() ? marks[i + 1].begin : marks[i].end;
    if (end > marks[i].begin) trace.steps.push_back({marks[i].begin, end});
  }
}

// PyTorch's profiler.

struct ProfilerMarks {
  std::map<std::string, StepWindow> on_host;
  std::map<std::string, std::map<std::string, StepWindow>> on_device;  // by its process
};

/// A step's annotation is on every stream that it has work on.
void widen(std::map<std::string, StepWindow>& marks, const ChromeEvent& event) {
  const StepWindow window{event.start.si(), event.end().si()};
  const auto [known, is_new] = marks.try_emplace(event.name, window);
  if (is_new) return;
  known->second.begin = std::min(known->second.begin, window.begin);
  known->second.end = std::max(known->second.end, window.end);
}

ProfilerMarks profiler_marks(const std::vector<ChromeEvent>& events) {
  ProfilerMarks marks;
  for (const ChromeEvent& event : events) {
    if (event.phase != 'X' || !event.name.starts_with(profiler_step)) continue;
    widen(category_of(event) == "gpu_user_annotation" ? marks.on_device[event.process] : marks.on_host, event);
  }
  return marks;
}

std::vector<StepWindow> windows_of(const std::map<std::string, StepWindow>& marks) {
  std::vector<StepWindow> windows;
  for (const auto& [name, window] : marks) windows.push_back(window);
  return windows;
}

DeviceWork device_work(const ChromeEvent& event) {
  const bool is_copy = is_copy_category(category_of(event));
  return {
      event.start.si(), event.end().si(), is_copy ? NamedWork{KernelClass::copy} : class_of_kernel(event.name),
      is_copy,          event.name,       event.thread.starts_with("stream") ? event.thread : "stream " + event.thread};
}

std::vector<DeviceTrace> profiler_traces(const std::vector<ChromeEvent>& events) {
  std::map<std::string, DeviceTrace> devices;
  for (const ChromeEvent& event : events) {
    if (event.phase == 'X' && is_device_category(category_of(event)))
      devices[event.process].work.push_back(device_work(event));
  }
  const ProfilerMarks marks = profiler_marks(events);
  std::vector<DeviceTrace> traces;
  for (auto& [process, trace] : devices) {
    trace.kind = "PyTorch profiler";
    trace.name = "device " + process;
    trace.steps_by = profiler_step;
    const auto own = marks.on_device.find(process);
    take_marks(trace, windows_of(own != marks.on_device.end() ? own->second : marks.on_host));
    traces.push_back(std::move(trace));
  }
  return traces;
}

// Horovod's timeline and our own. Both are of one rank.

struct TimelineSpan {
  std::string lane;
  std::string name;
  double begin = 0;
  double end = 0;
};

struct OpenSpan {
  std::string name;
  double begin = 0;
};

std::vector<TimelineSpan> spans_of(const std::vector<ChromeEvent>& events) {
  std::map<std::string, std::string> lanes;
  std::map<std::pair<std::string, std::string>, std::vector<OpenSpan>> open;
  std::vector<TimelineSpan> spans;
  for (const ChromeEvent& event : events) {
    if (event.phase == 'M' && event.name == "process_name" && !event.described.empty())
      lanes[event.process] = event.described;
    const auto lane = [&] { return lanes.contains(event.process) ? lanes[event.process] : event.process; };
    auto& under_way = open[{event.process, event.thread}];
    if (event.phase == 'X') spans.push_back({lane(), event.name, event.start.si(), event.end().si()});
    if (event.phase == 'B') under_way.push_back({event.name, event.start.si()});
    if (event.phase != 'E' || under_way.empty()) continue;
    if (event.start.si() < under_way.back().begin)
      throw InputError(event.place, "an end that is not before its beginning", "one that is");
    spans.push_back({lane(), under_way.back().name, under_way.back().begin, event.start.si()});
    under_way.pop_back();
  }
  return spans;
}

bool has_span(const std::vector<TimelineSpan>& spans, std::string_view name) {
  return std::ranges::any_of(spans, [&](const TimelineSpan& span) { return span.name == name; });
}

/// Horovod's operation as a whole, beside whose NCCL_ALLREDUCE or MPI_ALLREDUCE it does not count.
bool is_whole_operation(const std::string& name) {
  return name == "ALLREDUCE" || name == "ALLGATHER" || name == "BROADCAST" || name == "ALLTOALL" ||
         name == "REDUCESCATTER";
}

bool is_transfer(const std::string& name) {
  for (const char* by : {"NCCL_", "MPI_", "GLOO_", "CCL_", "DDL_", "PULL", "PUSH", "SEND", "RECEIVE"}) {
    if (name.starts_with(by)) return true;
  }
  return false;
}

/// "allreduce 16.4 MB", of our own lanes of communication.
bool is_our_collective(const TimelineSpan& span) {
  return std::isalpha(static_cast<unsigned char>(span.name.front())) != 0 && span.name.find(' ') != std::string::npos &&
         collective_in(span.name) != "other collectives";
}

class TimelineReader {
 public:
  explicit TimelineReader(const std::vector<TimelineSpan>& spans)
      : spans_(spans),
        has_layers_(has_span(spans, "COMPUTE")),
        is_ours_(has_layers_ || has_span(spans, "FORWARD_BACKWARD") || has_span(spans, "ITERATION")),
        has_transfers_(std::ranges::any_of(spans, [](const TimelineSpan& span) { return is_transfer(span.name); })) {}

  DeviceTrace trace() {
    DeviceTrace trace;
    trace.is_ours = is_ours_;
    trace.kind = is_ours_ ? "Farandole timeline" : "Horovod timeline";
    for (const TimelineSpan& span : spans_) {
      if (const auto work = work_of(span)) {
        if (work->kind == KernelClass::computation) computes_ = true;
        trace.work.push_back({span.begin, span.end, *work, false, span.name, span.lane});
      }
    }
    trace.detail = computes_ ? TraceDetail::computation : TraceDetail::communication;
    mark_steps(trace);
    sort_work(trace);
    return trace;
  }

 private:
  [[nodiscard]] std::optional<NamedWork> work_of(const TimelineSpan& span) const {
    if (span.name.empty()) return {};
    if (span.name.starts_with("MEMCPY_") || span.name.starts_with("COPY_")) return NamedWork{KernelClass::copy};
    if (span.lane == "compute") {
      if (span.name == "UPDATE") return NamedWork{KernelClass::optimizer};
      if (span.name == (has_layers_ ? "COMPUTE" : "FORWARD_BACKWARD")) return NamedWork{KernelClass::computation};
      return {};
    }
    const bool is_whole = is_whole_operation(span.name) && !has_transfers_;
    if (is_whole || is_transfer(span.name) || is_our_collective(span))
      return NamedWork{KernelClass::communication, collective_in(span.name)};
    return {};
  }

  /// Our own end with the update of the weights; Horovod's begin as the tensor that is first negotiates again.
  void mark_steps(DeviceTrace& trace) const {
    std::vector<StepWindow> marks;
    if (has_span(spans_, "ITERATION")) {
      trace.steps_by = "ITERATION";
      for (const TimelineSpan& span : spans_) {
        if (span.name == "ITERATION") marks.push_back({span.begin, span.end});
      }
      return take_marks(trace, marks);
    }
    if (!is_ours_) return mark_negotiations(trace);
    trace.steps_by = "UPDATE";
    std::vector<double> ends;
    for (const TimelineSpan& span : spans_) {
      if (span.lane == "compute" && span.name == "UPDATE") ends.push_back(span.end);
    }
    std::ranges::sort(ends);
    double begin = 0;
    for (const double end : ends) {
      if (end > begin) trace.steps.push_back({begin, end});
      begin = end;
    }
  }

  void mark_negotiations(DeviceTrace& trace) const {
    const TimelineSpan* first = nullptr;
    const auto negotiates = [](const TimelineSpan& span) { return span.name.starts_with("NEGOTIATE_"); };
    for (const TimelineSpan& span : spans_) {
      if (negotiates(span) && (first == nullptr || span.begin < first->begin)) first = &span;
    }
    if (first == nullptr) return;
    std::vector<double> begins;
    for (const TimelineSpan& span : spans_) {
      if (negotiates(span) && span.lane == first->lane) begins.push_back(span.begin);
    }
    std::ranges::sort(begins);
    trace.steps_by = first->lane + " is ready";
    for (std::size_t i = 1; i < begins.size(); ++i) {
      if (begins[i] > begins[i - 1]) trace.steps.push_back({begins[i - 1], begins[i]});
    }
  }

  const std::vector<TimelineSpan>& spans_;
  bool has_layers_;
  bool is_ours_;
  bool has_transfers_;
  bool computes_ = false;
};

std::vector<DeviceTrace> chrome_traces(const std::string& text, const std::string& file) {
  const std::vector<ChromeEvent> events = read_chrome_events(text, file);
  const auto is_on_device = [](const ChromeEvent& event) { return is_device_category(category_of(event)); };
  if (std::ranges::any_of(events, is_on_device)) return profiler_traces(events);
  const bool is_profile = std::ranges::any_of(events, [](const ChromeEvent& event) {
    return event.name.starts_with(profiler_step) || category_of(event) == "cpu_op";
  });
  if (is_profile) refuse_trace(file, "events of a device (ProfilerActivity.CUDA)", "a profile of the host alone");
  const auto is_process = [&](std::string_view name) {
    return std::ranges::any_of(events, [&](const ChromeEvent& event) { return event.described == name; });
  };
  if (is_process("measured") && is_process("predicted"))
    refuse_trace(file, "a trace that was measured", "a comparison that farandole compare wrote");
  DeviceTrace trace = TimelineReader(spans_of(events)).trace();
  if (trace.work.empty())
    refuse_trace(file, "events of a device: kernels, copies or collectives", "a trace without any");
  return {std::move(trace)};
}

// Chakra's nodes, linked with the device's: each with its category, begin and duration.

DeviceWork chakra_work(Section node, const std::string& category) {
  const bool is_copy = is_copy_category(category);
  const auto name = node.required<std::string>("name");
  const auto begin = node.required<double>("ts") * microsecond;
  const auto duration = node.maybe("inclusive_dur") ? node.child("inclusive_dur") : node.child("dur");
  const double seconds = read<double>(duration) * microsecond;
  if (!(seconds >= 0)) duration.fail("a duration that is not negative");
  const auto stream = node.maybe_read<std::int64_t>("stream");
  return {begin,
          begin + seconds,
          is_copy ? NamedWork{KernelClass::copy} : class_of_kernel(name),
          is_copy,
          name,
          fmt::format("stream {}", stream.value_or(0))};
}

/// What is linked begins when it was launched: on a stream it runs behind what was launched before.
void run_in_order(DeviceTrace& trace) {
  std::map<std::string, double> free_from;
  for (DeviceWork& work : trace.work) {
    const auto [known, is_first] = free_from.try_emplace(work.lane, work.begin);
    const double later = std::max(0.0, known->second - work.begin);
    work.begin += later;
    work.end += later;
    known->second = work.end;
  }
}

std::vector<DeviceTrace> chakra_traces(const Document& document, const Value& nodes) {
  DeviceTrace trace;
  trace.kind = "Chakra";
  for (const Value& value : nodes.elements()) {
    Section node(value);
    const auto category = node.maybe("cat");
    if (!category || !category->is_string() || !is_device_category(read<std::string>(*category))) continue;
    trace.work.push_back(chakra_work(node, read<std::string>(*category)));
  }
  sort_work(trace);
  run_in_order(trace);
  if (trace.work.empty())
    refuse_trace(document.source(), "nodes of a device, as chakra_trace_link adds them", "only those of the host");
  return {std::move(trace)};
}

// All of them.

std::string text_of_trace(const std::string& file) {
  if (file.empty()) refuse_option("--trace", "a file", file);
  std::ifstream stream(file, std::ios::binary);
  std::error_code none;
  if (std::filesystem::is_regular_file(file, none) && stream.get() == 0x1f && stream.get() == 0x8b)
    refuse_trace(file, "JSON or CSV", "a gzip archive; unpack it first: gunzip -k");
  return read_text(file);
}

std::vector<DeviceTrace> traces_in(const std::string& text, const std::string& file) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) refuse_trace(file, "a trace", "an empty file");
  if (is_nsys_table(text)) return read_nsys_table(text, file);
  if (text[first] != '{' && text[first] != '[')
    refuse_trace(
        file,
        "a trace: JSON of PyTorch's profiler, Chakra, Horovod or farandole run --timeline, or CSV of nsys stats "
        "--report cuda_gpu_trace",
        quoted(text.substr(first, text.find('\n', first) - first)));
  if (text[first] == '{' && text.find("\"traceEvents\"") == std::string::npos) {
    const Document document = Document::parse(text, file);
    const auto nodes = document.find("/nodes");
    if (nodes && nodes->is_array()) return chakra_traces(document, *nodes);
  }
  return chrome_traces(text, file);
}

}  // namespace

StepWindow DeviceTrace::all() const {
  StepWindow window{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const DeviceWork& one : work) {
    window.begin = std::min(window.begin, one.begin);
    window.end = std::max(window.end, one.end);
  }
  return window;
}

std::vector<DeviceTrace> read_trace(const std::string& file) {
  std::vector<DeviceTrace> traces = traces_in(text_of_trace(file), file);
  const std::string stem = std::filesystem::path(file).filename().string();
  for (DeviceTrace& trace : traces) {
    trace.name = traces.size() == 1 ? stem : stem + ", " + trace.name;
    sort_work(trace);
    const StepWindow all = trace.all();
    if (!(all.end > all.begin)) refuse_trace(file, "work of a device that takes time", "none");
  }
  return traces;
}

DeviceTrace trace_of(const Timeline& timeline) {
  std::vector<TimelineSpan> spans;
  const auto rounded = [](Seconds time) { return std::round(time.si() * 1e9) / 1e9; };  // as they are written
  for (const Span& span : timeline.spans())
    spans.push_back({span.lane, span.activity, rounded(span.start), rounded(span.start + span.duration)});
  return TimelineReader(spans).trace();
}

}  // namespace farandole
