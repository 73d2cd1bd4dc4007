#include "training/gradient_hooks.hpp"

#include <algorithm>

namespace farandole { inline namespace training {

Seconds kernel_over(const Coder& coder, Bytes traffic) {
  return coder.start + traffic / coder.memory;
}

Job hooked(Job job, const GradientHooks& hooks, const Coder& coder) {
  Seconds later;  // than without hooks, the device
  Seconds host;
  for (Gradient& gradient : job.gradients) {
    if (hooks.passes > 0) {
      later += kernel_over(coder, hooks.passes * gradient.size);
      host += coder.kernel;
    }
    later = std::max(later, gradient.announced + host - gradient.ready);
    gradient.announced += host;
    gradient.ready += later;
  }
  job.backward_end += later;
  return job;
}

}}  // namespace farandole::training
