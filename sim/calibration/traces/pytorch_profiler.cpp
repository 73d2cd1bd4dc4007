#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "calibration/traces/traces.hpp"
#include "timeline/quantile.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view step_mark = "ProfilerStep#";
constexpr std::string_view backward_mark = "autograd::engine::evaluate_function: ";
constexpr std::string_view optimizer_mark = "Optimizer.step#";

/// A kind of layer, its operator, and the words by which its node in the backward pass is known.
struct Kind {
  std::string_view type;
  std::string_view forward;
  std::array<std::string_view, 3> backward;
};
constexpr std::array kinds{
    Kind{"conv2d", "aten::conv2d", {"ConvolutionBackward", "CudnnConvolutionBackward", "MkldnnConvolutionBackward"}},
    Kind{"linear", "aten::linear", {"AddmmBackward", "LinearBackward", "MmBackward"}},
    Kind{"batch_norm2d",
         "aten::batch_norm",
         {"NativeBatchNormBackward", "CudnnBatchNormBackward", "MiopenBatchNormBackward"}},
    Kind{"layer_norm", "aten::layer_norm", {"NativeLayerNormBackward", "LayerNormBackward", "LayerNormBackward"}},
    Kind{"embedding", "aten::embedding", {"EmbeddingBackward", "EmbeddingBackward", "EmbeddingBackward"}},
    Kind{"max_pool2d",
         "aten::max_pool2d",
         {"MaxPool2DWithIndicesBackward", "MkldnnMaxPool2DBackward", "MaxPool2DBackward"}},
};

using Events = std::vector<const ChromeEvent*>;

bool is_operator(const ChromeEvent& event) {
  return event.phase == 'X' && (event.category.empty() || event.category == "cpu_op" || event.category == "Operator");
}

bool is_within_step(const ChromeEvent& event, const ChromeEvent& step) {
  return event.start >= step.start && event.end() <= step.end();
}

bool is_backward_of(const ChromeEvent& event, const Kind& kind) {
  if (!event.name.starts_with(backward_mark)) return false;
  const auto name = std::string_view(event.name).substr(backward_mark.size());
  return std::ranges::any_of(kind.backward, [&](std::string_view word) { return name.starts_with(word); });
}

/// Kernels by the operator that launched them.
using Kernels = std::map<double, double>;  // seconds by external id

Kernels kernels_in(const std::vector<ChromeEvent>& events) {
  Kernels kernels;
  for (const ChromeEvent& event : events) {
    if (event.category != "kernel" && event.category != "Kernel") continue;
    if (event.external_id) kernels[*event.external_id] += event.duration.si();
  }
  return kernels;
}

/// One step's operators, in order of time, outermost first.
class Step {
 public:
  Step(const std::vector<ChromeEvent>& events, const ChromeEvent* mark, const Kernels& kernels) : kernels_(kernels) {
    for (const ChromeEvent& event : events) {
      if (is_operator(event) && &event != mark && (mark == nullptr || is_within_step(event, *mark)))
        operators_.push_back(&event);
    }
    std::ranges::stable_sort(operators_, [](const ChromeEvent* a, const ChromeEvent* b) {
      return a->start < b->start || (a->start == b->start && a->duration > b->duration);
    });
  }

  [[nodiscard]] Events forward_of(const Kind& kind) const {
    return those_of(operators_, [&](const ChromeEvent* event) { return event->name == kind.forward; });
  }
  [[nodiscard]] Events backward_of(const Kind& kind) const {
    Events nodes = those_of(operators_, [&](const ChromeEvent* event) { return is_backward_of(*event, kind); });
    std::ranges::reverse(nodes);
    return nodes;
  }
  /// On the device if there are kernels, else on the CPU.
  [[nodiscard]] double time_of(const ChromeEvent& event) const {
    if (kernels_.empty()) return event.duration.si();
    double seconds = 0;
    auto at = std::ranges::lower_bound(operators_, event.start, {}, &ChromeEvent::start);
    for (; at != operators_.end() && (*at)->start <= event.end(); ++at) {
      const ChromeEvent& inner = **at;
      if (!inner.external_id || inner.thread != event.thread || !is_within_step(inner, event)) continue;
      const auto found = kernels_.find(*inner.external_id);
      if (found != kernels_.end()) seconds += found->second;
    }
    return seconds;
  }
  /// Of all that belongs to the backward pass, or to the forward pass before it, but for what is inside other
  /// operators.
  [[nodiscard]] double total(bool backward) const {
    const Seconds begin = backward_begin();
    double sum = 0;
    Seconds covered(-1);
    for (const ChromeEvent* event : operators_) {
      const bool is_backward = event->name.starts_with(backward_mark);
      if (is_backward != backward || event->name.starts_with(optimizer_mark)) continue;
      if (!backward && (event->start >= begin || event->start < covered)) continue;
      sum += time_of(*event);
      if (!backward) covered = event->end();
    }
    return sum;
  }
  [[nodiscard]] double update() const {
    double sum = 0;
    for (const ChromeEvent* event : operators_) {
      if (event->name.starts_with(optimizer_mark)) sum += time_of(*event);
    }
    return sum;
  }

 private:
  [[nodiscard]] Seconds backward_begin() const {
    for (const ChromeEvent* event : operators_) {
      if (event->name.starts_with(backward_mark)) return event->start;
    }
    return Seconds::infinity();
  }

  Events operators_;
  const Kernels& kernels_;
};

void refuse_other_counts(const std::string& file, const Kind& kind, const char* pass, std::size_t layers,
                         std::size_t operators) {
  if (layers == operators) return;
  throw InputError({file, 1, ""},
                   fmt::format("as many {} in the {} pass of a step as the model has, {}", kind.type, pass, layers),
                   std::to_string(operators));
}

struct PassTimes {
  std::vector<double> forward;
  std::vector<double> backward;
  double update = 0;
};

/// So that they sum to what the whole pass took.
void spread(std::vector<double>& times, double total) {
  double sum = 0;
  for (const double time : times) sum += time;
  if (sum <= 0 || total <= sum) return;
  for (double& time : times) time *= total / sum;
}

PassTimes pass_times_of(const Step& step, const Model& model, const std::string& file) {
  PassTimes times{std::vector<double>(model.layers.size()), std::vector<double>(model.layers.size()), step.update()};
  for (const Kind& kind : kinds) {
    const auto layers = places_of(model.layers, [&](const Layer& layer) { return layer.type == kind.type; });
    const Events forward = step.forward_of(kind);
    const Events backward = step.backward_of(kind);
    refuse_other_counts(file, kind, "forward", layers.size(), forward.size());
    refuse_other_counts(file, kind, "backward", layers.size(), backward.size());
    for (std::size_t k = 0; k < layers.size(); ++k) {
      times.forward[layers[k]] = step.time_of(*forward[k]);
      times.backward[layers[k]] = step.time_of(*backward[k]);
    }
  }
  spread(times.forward, step.total(false));
  spread(times.backward, step.total(true));
  return times;
}

std::vector<PassTimes> all_steps(const std::vector<ChromeEvent>& events, const Kernels& kernels, const Model& model,
                                 const std::string& file) {
  std::vector<PassTimes> steps;
  std::set<std::string> seen;  // some versions mark a step on the device as well
  for (const ChromeEvent& mark : events) {
    if (mark.phase != 'X' || !mark.name.starts_with(step_mark) || !seen.insert(mark.name).second) continue;
    steps.push_back(pass_times_of(Step(events, &mark, kernels), model, file));
  }
  if (steps.empty()) steps.push_back(pass_times_of(Step(events, nullptr, kernels), model, file));
  return steps;
}

}  // namespace

ProfilerTrace read_pytorch_profiler(std::string_view text, const std::string& file, const Model& model, int batch) {
  const auto events = read_chrome_events(text, file);
  const Kernels kernels = kernels_in(events);
  const bool known =
      std::ranges::any_of(events, [](const ChromeEvent& event) { return event.name.starts_with("aten::"); });
  if (!known) throw InputError({file, 1, ""}, "a trace of PyTorch's profiler", "one without an operator of PyTorch");
  const auto steps = all_steps(events, kernels, model, file);
  ProfilerTrace trace{{model_name(std::filesystem::path(file).stem().string()), "", batch, {}, Seconds(0)},
                      static_cast<int>(steps.size()),
                      !kernels.empty()};
  const auto median_of = [&](auto time) { return Seconds(median(mapped(steps, time))); };
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    TracedLayer& layer = trace.workload.layers.emplace_back(TracedLayer{model.layers[i], {}, {}});
    layer.forward = median_of([i](const PassTimes& step) { return step.forward[i]; });
    layer.backward = median_of([i](const PassTimes& step) { return step.backward[i]; });
  }
  trace.workload.update = median_of(&PassTimes::update);
  trace.workload.source =
      fmt::format("PyTorch profiler trace {}, {} step{}, times on the {}; layers of {} {}",
                  std::filesystem::path(file).filename().string(), steps.size(), steps.size() == 1 ? "" : "s",
                  trace.on_device ? "device" : "CPU", model.name, model.variant);
  return trace;
}

}}  // namespace farandole::calibration
