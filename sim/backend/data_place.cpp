#include "backend/data_place.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace farandole { inline namespace backend {

Room HostPlace::allocate(std::size_t floats) {
  auto owner = std::make_shared<std::vector<float>>(floats);
  float* const first = owner->data();
  return {std::shared_ptr<float>(std::move(owner), first), floats};
}

void HostPlace::copy(std::span<const float> from, std::span<float> to) {
  std::ranges::copy(from, to.begin());
}

void HostPlace::add(std::span<const float> summands, std::span<float> sums) {
  std::ranges::transform(sums, summands, sums.begin(), std::plus<>());
}

Seconds HostPlace::time(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

}}  // namespace farandole::backend
