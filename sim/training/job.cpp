#include "training/job.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace farandole { inline namespace training {
namespace {

Gradient gradient_of(const Tensor& tensor, Bytes element, Seconds announced, Seconds ready) {
  const auto elements = static_cast<double>(tensor.elements());
  const double rows = tensor.shape.empty() ? elements : static_cast<double>(tensor.shape.front());
  return {tensor.name, element * elements, announced, ready, rows, elements / rows};
}

/// The moving mean and variance that a batch normalisation keeps per channel.
void add_moving_averages(std::vector<Variable>& variables, const Layer& layer, int index) {
  if (!layer.type.starts_with("batch_norm") || layer.tensors.empty()) return;
  const Bytes size = element_size(Precision::fp32) * static_cast<double>(layer.tensors.front().elements());
  variables.push_back({layer.name + ".running_mean", size, index, -1});
  variables.push_back({layer.name + ".running_var", size, index, -1});
}

std::vector<Variable> variables_of(const Model& model) {
  int later = model.trainable_tensors();  // from here on, which come earlier in backward order
  std::vector<Variable> variables;
  for (std::size_t index = 0; index < model.layers.size(); ++index) {
    const Layer& layer = model.layers[index];
    for (const Tensor& tensor : layer.tensors) {
      const Bytes size = element_size(Precision::fp32) * static_cast<double>(tensor.elements());
      const int gradient = tensor.trainable ? --later : -1;
      variables.push_back({tensor.name, size, static_cast<int>(index), gradient, !tensor.trainable});
    }
    add_moving_averages(variables, layer, static_cast<int>(index));
  }
  return variables;
}

}  // namespace

Bytes Job::gradient_bytes() const {
  return std::accumulate(gradients.begin(), gradients.end(), Bytes(0),
                         [](Bytes sum, const Gradient& gradient) { return sum + gradient.size; });
}

Bytes Job::buffer_bytes() const {
  Bytes sum;
  for (const Variable& variable : variables) {
    if (variable.gradient < 0 && !variable.frozen) sum += variable.size;
  }
  return sum;
}

Job make_job(const Model& model, const ComputeTimes& times, GradientType gradient_type,
             std::optional<Seconds> host_dispatch) {
  Job job;
  job.element = element_size(gradient_type);
  Seconds device = std::accumulate(times.forward.begin(), times.forward.end(), Seconds(0));
  Seconds host = host_dispatch.value_or(Seconds(0)) * static_cast<double>(model.layers.size());
  for (std::size_t layer = model.layers.size(); layer-- > 0;) {
    device += times.backward[layer];
    host += host_dispatch.value_or(Seconds(0));
    const auto& tensors = model.layers[layer].tensors;
    for (std::size_t t = tensors.size(); t-- > 0;) {
      if (!tensors[t].trainable) continue;
      // A slower host has set the pace of the passes already (workload/compute_time.hpp), measured or estimated.
      const Seconds announced = host_dispatch ? std::min(host, device) : device;
      job.gradients.push_back(gradient_of(tensors[t], job.element, announced, device));
    }
  }
  job.backward_end = device;
  job.update = times.update;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    job.layers.push_back({times.forward[layer], times.backward[layer]});
  }
  job.variables = variables_of(model);
  job.first_backward = model.first_backward();
  return job;
}

namespace {

using Exchanges = std::vector<InnerExchange>;

using AddExchange = std::function<void(Exchanges& into, Seconds at, double elements)>;

/// Of every layer what comes `in` before it and what goes `out` behind it; backward, gradients the other way round.
void add_to_layers(Job& job, const Model& model, Recompute recompute, double Layer::*in, double Layer::*out,
                   const AddExchange& before, const AddExchange& behind) {
  const std::vector<bool> again = recomputed(model, recompute);
  const std::size_t first = model.first_backward();
  for (std::size_t i = 0; i < job.layers.size(); ++i) {
    LayerPass& pass = job.layers[i];
    const Layer& layer = model.layers[i];
    const auto add_forward = [&](Exchanges& into) {
      before(into, Seconds(0), layer.*in);
      behind(into, pass.forward, layer.*out);
    };
    add_forward(pass.forward_exchanges);
    if (i < first) continue;
    if (again[i]) add_forward(pass.backward_exchanges);
    before(pass.backward_exchanges, again[i] ? pass.forward : Seconds(0), layer.*out);
    behind(pass.backward_exchanges, pass.backward, layer.*in);
  }
}

}  // namespace

/// Each rank has the sum; or its part of the tokens of it, which are gathered before somebody needs all of them.
void add_exchanges(Job& job, const Model& model, const ExchangeDemand& demand) {
  const bool shares = demand.sequence_parallel;
  const auto add = [&](Exchanges& into, Seconds at, Operation operation, double elements) {
    if (elements == 0) return;
    const Bytes size = elements * demand.batch * demand.element;
    into.push_back({at, {operation, size, {}, {}, false, Group::tensor}});
  };
  const auto gather = [&](Exchanges& into, Seconds at, double elements) {
    if (shares) add(into, at, Operation::allgather, elements);
  };
  const auto sum = [&](Exchanges& into, Seconds at, double elements) {
    add(into, at, shares ? Operation::reduce_scatter : Operation::allreduce, elements);
  };
  add_to_layers(job, model, demand.recompute, &Layer::gathers, &Layer::sums, gather, sum);
}

void add_expert_exchanges(Job& job, const Model& model, const ExchangeDemand& demand) {
  const auto add = [&](Exchanges& into, Seconds at, double elements) {
    const Bytes size(std::ceil(elements * demand.batch * demand.element.si()));
    if (size > Bytes(0)) into.push_back({at, {Operation::alltoall, size, {}, {}, false, Group::experts}});
  };
  add_to_layers(job, model, demand.recompute, &Layer::dispatched, &Layer::combined, add, add);
  for (const Variable& variable : job.variables) {
    const bool is_of_experts = model.layers[static_cast<std::size_t>(variable.layer)].experts > 0;
    if (variable.gradient >= 0)
      job.gradients[static_cast<std::size_t>(variable.gradient)].is_of_experts = is_of_experts;
  }
}

/// Behind what is there, and how long that takes then.
static Seconds append(Exchanges& all, const Exchanges& more, Seconds begin, Seconds length) {
  for (const InnerExchange& exchange : more) all.push_back({begin + exchange.at, exchange.what});
  return begin + length;
}

std::vector<InnerExchange> forward_exchanges(const Job& job) {
  Exchanges all;
  Seconds begin;
  for (const LayerPass& layer : job.layers) begin = append(all, layer.forward_exchanges, begin, layer.forward);
  return all;
}

std::vector<InnerExchange> backward_exchanges(const Job& job) {
  Exchanges all;
  Seconds begin;
  for (std::size_t i = job.layers.size(); i-- > 0;) {
    begin = append(all, job.layers[i].backward_exchanges, begin, job.layers[i].backward);
  }
  return all;
}

std::vector<InnerExchange> exchanges_of(const Job& job) {
  const Exchanges forward = forward_exchanges(job);
  const Exchanges backward = backward_exchanges(job);
  Seconds forward_length;
  Seconds backward_length;
  for (const LayerPass& layer : job.layers) {
    forward_length += layer.forward;
    backward_length += layer.backward;
  }
  Exchanges all;
  Seconds begin;
  for (int pass = 0; pass < job.passes; ++pass) {
    begin = append(all, forward, begin, forward_length);
    begin = append(all, backward, begin, backward_length);
  }
  return all;
}

Job without_overlap(Job job) {
  Seconds queued;  // the host asks for the exchange when it has queued the whole backward pass
  for (const Gradient& gradient : job.gradients) queued = std::max(queued, gradient.announced);
  for (Gradient& gradient : job.gradients) {
    gradient.announced = queued;
    gradient.ready = job.backward_end;
  }
  return job;
}

Job accumulated(Job job, int passes) {
  const Seconds earlier = (passes - 1) * job.backward_end;
  for (Gradient& gradient : job.gradients) {
    gradient.announced += earlier;
    gradient.ready += earlier;
  }
  job.backward_end += earlier;
  job.passes *= passes;
  return job;
}

}}  // namespace farandole::training
