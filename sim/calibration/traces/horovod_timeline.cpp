#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "calibration/traces/traces.hpp"
#include "timeline/quantile.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view negotiation = "NEGOTIATE_ALLREDUCE";
constexpr std::string_view operation = "ALLREDUCE";
constexpr const char* cycle_mark = "CYCLE_START";

/// What the timeline tells of one tensor, an entry for every iteration.
struct Traced {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<double> ready;
  std::vector<double> negotiated;  // seconds it took
  std::vector<double> done;
  std::vector<std::string> open;  // spans under way, the innermost last
};

/// "[64, 3, 7, 7]", and [1] for a scalar; nothing where it is none, or larger than any tensor is.
std::vector<std::int64_t> shape_in(const std::string& text) {
  constexpr double most = 1099511627776.0;  // elements
  std::vector<std::int64_t> shape;
  double elements = 1;
  for (std::size_t at = text.find_first_of("0123456789"); at != std::string::npos;
       at = text.find_first_of("0123456789", text.find_first_not_of("0123456789", at))) {
    const double extent = std::strtod(text.c_str() + at, nullptr);
    elements *= extent;
    if (extent < 1 || elements > most) return {};
    shape.push_back(static_cast<std::int64_t>(extent));
    if (text.find_first_not_of("0123456789", at) == std::string::npos) break;
  }
  if (shape.empty() && text.find('[') != std::string::npos) shape.push_back(1);
  return shape;
}

void end_span(const ChromeEvent& event, Traced& tensor) {
  if (tensor.open.empty()) return;  // the timeline begins in the middle of it
  const std::string span = tensor.open.back();
  tensor.open.pop_back();
  if (span == negotiation && event.start.si() < tensor.ready.back())
    throw InputError(event.place, "a negotiation that ends after its beginning", "one before it");
  if (span == negotiation) tensor.negotiated.push_back(event.start.si() - tensor.ready.back());
  if (span == operation) tensor.done.push_back(event.start.si());
  if (tensor.shape.empty() && !event.shape.empty()) tensor.shape = shape_in(event.shape);
}

void take(const ChromeEvent& event, std::map<std::string, Traced>& tensors) {
  Traced& tensor = tensors[event.process];
  const bool is_name = event.phase == 'M' && event.name == "process_name";
  if (is_name && !event.described.empty()) tensor.name = event.described;
  if (event.phase == 'B' && event.name == negotiation) tensor.ready.push_back(event.start.si());
  if (event.phase == 'B') tensor.open.push_back(event.name);
  if (event.phase == 'E') end_span(event, tensor);
}

/// Tensors that were reduced, and how many times all of them were.
struct Iterations {
  std::vector<Traced> tensors;  // as they become ready
  std::size_t count = 0;
  std::vector<double> first;  // of each iteration, when its first tensor was ready
  std::vector<double> last;   // when its last allreduce ended
};

double after_the_first(const Traced& tensor, const Iterations& all) {
  std::vector<double> delays;
  for (std::size_t k = 0; k < all.count; ++k) delays.push_back(tensor.ready[k] - all.first[k]);
  return median(delays);
}

Iterations iterations_in(const std::map<std::string, Traced>& tensors, const std::string& file) {
  Iterations all;
  all.count = std::numeric_limits<std::size_t>::max();
  for (const auto& [process, tensor] : tensors) {
    if (tensor.ready.empty()) continue;
    all.tensors.push_back(tensor);
    all.count = std::min({all.count, tensor.ready.size(), tensor.done.size()});
  }
  const Place place{file, 1, ""};
  if (all.tensors.empty())
    throw InputError(place, "the timeline of Horovod's allreduces", "none of their negotiations");
  if (all.count < 2) throw InputError(place, "at least two iterations that are all there", "less");
  for (std::size_t k = 0; k < all.count; ++k) {
    all.first.push_back(std::numeric_limits<double>::infinity());
    all.last.push_back(-std::numeric_limits<double>::infinity());
    for (const Traced& tensor : all.tensors) {
      all.first[k] = std::min(all.first[k], tensor.ready[k]);
      all.last[k] = std::max(all.last[k], tensor.done[k]);
    }
  }
  std::ranges::stable_sort(all.tensors, {}, [&](const Traced& tensor) { return after_the_first(tensor, all); });
  return all;
}

TracedLayer layer_of(const Traced& tensor, const std::string& file) {
  if (tensor.name.empty()) throw InputError({file, 1, ""}, "a name of every tensor", "a tensor without one");
  if (tensor.shape.empty()) {
    throw InputError({file, 1, ""}, "a \"shape\" where an allreduce ends", "none for " + quoted(tensor.name));
  }
  TracedLayer layer;
  layer.name = tensor.name;
  layer.type = "traced";
  layer.tensors.push_back({tensor.name, tensor.shape});
  layer.input_elements = 1;
  layer.output_elements = 1;
  return layer;
}

std::vector<TracedLayer> layers_of(const Iterations& all, const std::string& file) {
  std::vector<TracedLayer> layers;
  double before = 0;
  for (const Traced& tensor : all.tensors) {
    layers.push_back(layer_of(tensor, file));
    const double ready = after_the_first(tensor, all);
    layers.back().backward = Seconds(std::max(0.0, ready - before));
    before = std::max(before, ready);
  }
  std::ranges::reverse(layers);
  std::vector<double> between;
  for (std::size_t k = 1; k < all.count; ++k) between.push_back(all.first[k] - all.last[k - 1]);
  layers.front().forward = Seconds(std::max(0.0, median(between)));
  return layers;
}

}  // namespace

HorovodTrace read_horovod_timeline(std::string_view text, const std::string& file) {
  std::map<std::string, Traced> tensors;
  std::vector<double> cycles;
  for (const ChromeEvent& event : read_chrome_events(text, file)) {
    if (event.phase == 'i' && event.name == cycle_mark) cycles.push_back(event.start.si());
    if (!event.process.empty()) take(event, tensors);
  }
  const Iterations all = iterations_in(tensors, file);
  HorovodTrace trace;
  trace.iterations = static_cast<int>(all.count);
  std::ranges::sort(cycles);  // marks of several threads may come in any order
  std::vector<double> steps;
  for (std::size_t i = 1; i < cycles.size(); ++i) steps.push_back(cycles[i] - cycles[i - 1]);
  if (!steps.empty()) trace.cycle = Seconds(median(steps));
  std::vector<double> negotiated;
  for (const Traced& tensor : all.tensors)
    negotiated.insert(negotiated.end(), tensor.negotiated.begin(), tensor.negotiated.end());
  trace.negotiation = Seconds(median(negotiated));
  trace.workload.name = model_name(std::filesystem::path(file).stem().string());
  trace.workload.source = fmt::format(
      "Horovod's timeline {}, {} iterations: what lies between the end of one and the "
      "first tensor of the next counts as forward pass",
      std::filesystem::path(file).filename().string(), trace.iterations);
  trace.workload.layers = layers_of(all, file);
  return trace;
}

}}  // namespace farandole::calibration
