#include "backend/cuda/device.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "backend/bench.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace backend {
namespace {

constexpr int to_device = 1;  // cudaMemcpyHostToDevice
constexpr int on_device = 3;  // cudaMemcpyDeviceToDevice

void expect_cuda(const CudaRuntime& runtime, int answer, std::string_view tried) {
  if (answer != 0) throw std::runtime_error(fmt::format("CUDA: {}: {}", tried, runtime.error_text(answer)));
}

/// Read as fp16 or bf16 any of these is finite and not 0, and so is any two of them as fp32. Not all the same: a device
/// that multiplies equal numbers needs less power, and runs faster.
std::vector<std::uint16_t> numbers() {
  std::mt19937 random(1);
  std::vector<std::uint16_t> some(1U << 21U);
  for (auto& number : some) number = static_cast<std::uint16_t>((random() & 0x87ffU) | 0x3800U);
  return some;
}

int attribute(const CudaRuntime& runtime, int which) {
  int value = 0;
  expect_cuda(runtime, runtime.device_attribute(&value, which, 0), "asking a device what it is");
  return value;
}

std::string name_of_device(const CudaRuntime& runtime) {
  std::array<char, 16384> properties{};  // larger than those of any version
  expect_cuda(runtime, runtime.device_properties(properties.data(), 0), "asking a device for its name");
  properties[255] = '\0';
  return properties.data();
}

std::string version_text(std::size_t version, std::size_t major) {
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

}  // namespace

DeviceMemory::DeviceMemory(const CudaRuntime& runtime, Bytes size) : runtime_(runtime) {
  static const std::vector<std::uint16_t> some = numbers();
  const auto bytes = static_cast<std::size_t>(size.si()) + 256;
  if (runtime.allocate(&memory_, bytes) != 0) {
    throw std::runtime_error(fmt::format("the device has no {} of free memory", format(size)));
  }
  std::size_t filled = std::min(bytes, some.size() * sizeof some.front());
  expect_cuda(runtime, runtime.copy(memory_, some.data(), filled, to_device), "filling memory");
  for (; filled < bytes; filled *= 2) {
    const std::size_t more = std::min(filled, bytes - filled);
    expect_cuda(runtime, runtime.copy(static_cast<char*>(memory_) + filled, memory_, more, on_device),
                "filling memory");
  }
}

CudaDevice::CudaDevice(int warmup, int repetitions) : libraries_(cuda_libraries()), warmup_(warmup) {
  int count = 0;
  const int answer = runtime().get_device_count(&count);
  if (answer != 0 || count == 0) {
    throw std::runtime_error(fmt::format("no CUDA device is there: {}",
                                         answer == 0 ? "the driver lists none" : runtime().error_text(answer)));
  }
  expect_cuda(runtime(), runtime().set_device(0), "choosing a device");
  if (const int status = cublas().create(&cublas_handle_); status != 0) {
    throw std::runtime_error(fmt::format("cuBLAS does not begin: status {}", status));
  }
  if (const int status = cudnn().create(&cudnn_handle_); status != 0) {
    throw std::runtime_error(fmt::format("cuDNN does not begin: {}", cudnn().error_text(status)));
  }
  events_.resize(static_cast<std::size_t>(repetitions) + 1);
  for (void*& event : events_) expect_cuda(runtime(), runtime().create_event(&event), "making a clock");
}

CudaDevice::~CudaDevice() {
  for (void* event : events_) runtime().destroy_event(event);
  cudnn().destroy(cudnn_handle_);
  cublas().destroy(cublas_handle_);
}

GpuDescription CudaDevice::describe() const {
  constexpr int multiprocessors = 16;  // cudaDevAttrMultiProcessorCount
  constexpr int major = 75;            // cudaDevAttrComputeCapabilityMajor, and after it its minor one
  std::size_t free = 0;
  std::size_t total = 0;
  expect_cuda(runtime(), runtime().memory_info(&free, &total), "asking a device for its memory");
  int cuda = 0;
  int blas = 0;
  expect_cuda(runtime(), runtime().version(&cuda), "asking for CUDA's version");
  cublas().version(cublas_handle_, &blas);
  const std::size_t dnn = cudnn().version();
  return {
      name_of_device(runtime()), 10 * attribute(runtime(), major) + attribute(runtime(), major + 1),
      attribute(runtime(), multiprocessors), Bytes(static_cast<double>(total)),
      fmt::format("CUDA {}.{}, cuBLAS {}, cuDNN {}", cuda / 1000, cuda % 1000 / 10,
                  version_text(static_cast<std::size_t>(blas), 10000), version_text(dnn, dnn >= 90000 ? 10000 : 1000))};
}

Seconds CudaDevice::time(const std::function<void()>& queue) const {
  for (int i = 0; i < warmup_; ++i) queue();
  expect_cuda(runtime(), runtime().record_event(events_.front(), nullptr), "timing a kernel");
  for (std::size_t i = 1; i < events_.size(); ++i) {
    queue();
    expect_cuda(runtime(), runtime().record_event(events_[i], nullptr), "timing a kernel");
  }
  expect_cuda(runtime(), runtime().wait_for_event(events_.back()), "running a kernel");
  std::vector<Seconds> times;
  for (std::size_t i = 1; i < events_.size(); ++i) {
    float milliseconds = 0;
    expect_cuda(runtime(), runtime().elapsed(&milliseconds, events_[i - 1], events_[i]), "timing a kernel");
    times.emplace_back(static_cast<double>(milliseconds) / 1000);
  }
  return median(times);
}

Seconds time_movement(const CudaDevice& device, Bytes moved) {
  const Bytes size = moved / 2;  // a copy reads and writes
  const DeviceMemory from(device.runtime(), size);
  const DeviceMemory to(device.runtime(), size);
  const auto bytes = static_cast<std::size_t>(size.si());
  return device.time([&] {
    expect_cuda(device.runtime(), device.runtime().copy_later(to.get(), from.get(), bytes, on_device, nullptr),
                "copying");
  });
}

}}  // namespace farandole::backend
