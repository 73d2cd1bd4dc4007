#include "training/job.hpp"

#include <algorithm>
#include <numeric>

namespace farandole {

Bytes Job::gradient_bytes() const {
  return std::accumulate(gradients.begin(), gradients.end(), Bytes(0),
                         [](Bytes sum, const Gradient& gradient) { return sum + gradient.size; });
}

Job make_job(const Model& model, const ComputeTimes& times, Precision gradient_precision,
             std::optional<Seconds> host_dispatch) {
  Job job;
  Seconds device = std::accumulate(times.forward.begin(), times.forward.end(), Seconds(0));
  Seconds host = host_dispatch.value_or(Seconds(0)) * static_cast<double>(model.layers.size());
  for (std::size_t layer = model.layers.size(); layer-- > 0;) {
    device += times.backward[layer];
    host += host_dispatch.value_or(Seconds(0));
    const auto& tensors = model.layers[layer].tensors;
    for (std::size_t t = tensors.size(); t-- > 0;) {
      const Tensor& tensor = tensors[t];
      const Bytes size = element_size(gradient_precision) * static_cast<double>(tensor.elements());
      // A host slower than its device cannot announce late: the measured step already contains its pace.
      job.gradients.push_back({tensor.name, size, host_dispatch ? std::min(host, device) : device, device});
    }
  }
  job.backward_end = device;
  job.update = times.update;
  return job;
}

}  // namespace farandole
