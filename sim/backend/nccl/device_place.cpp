#include "backend/nccl/device_place.hpp"

#include "backend/nccl/add.hpp"
#include "backend/nccl/check.hpp"

namespace farandole { inline namespace backend {

DevicePlace::DevicePlace(int device) {
  expect(cudaSetDevice(device), "taking a CUDA device");
  expect(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a CUDA stream");
  expect(cudaEventCreate(&begin_), "making a CUDA event");
  expect(cudaEventCreate(&end_), "making a CUDA event");
}

DevicePlace::~DevicePlace() {
  cudaEventDestroy(end_);
  cudaEventDestroy(begin_);
  cudaStreamDestroy(stream_);
}

void DevicePlace::synchronise() {
  expect(cudaStreamSynchronize(stream_), "waiting for a CUDA stream");
}

bool DevicePlace::is_done() const {
  const cudaError_t answer = cudaStreamQuery(stream_);
  if (answer == cudaErrorNotReady) return false;
  expect(answer, "asking a CUDA stream");
  return true;
}

Room DevicePlace::allocate(std::size_t floats) {
  void* memory = nullptr;
  if (floats > 0) {
    expect(cudaMalloc(&memory, floats * sizeof(float)), "allocating device memory");
    expect(cudaMemsetAsync(memory, 0, floats * sizeof(float), stream_), "clearing device memory");
  }
  return {std::shared_ptr<float>(static_cast<float*>(memory), [](float* data) { cudaFree(data); }), floats};
}

void DevicePlace::upload(std::span<const float> from_host, std::span<float> to) {
  expect(cudaMemcpyAsync(to.data(), from_host.data(), from_host.size_bytes(), cudaMemcpyHostToDevice, stream_),
         "copying to a device");
  synchronise();  // the host's copy may go now
}

void DevicePlace::download(std::span<const float> from, std::span<float> to_host) {
  expect(cudaMemcpyAsync(to_host.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToHost, stream_),
         "copying from a device");
  synchronise();
}

void DevicePlace::copy(std::span<const float> from, std::span<float> to) {
  expect(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToDevice, stream_),
         "copying on a device");
}

void DevicePlace::add(std::span<const float> summands, std::span<float> sums) {
  expect(add_on_device(summands.data(), sums.data(), sums.size(), stream_), "adding on a device");
}

Seconds DevicePlace::time(const std::function<void()>& act) {
  expect(cudaEventRecord(begin_, stream_), "recording a CUDA event");
  act();
  expect(cudaEventRecord(end_, stream_), "recording a CUDA event");
  expect(cudaEventSynchronize(end_), "waiting for a CUDA event");
  float milliseconds = 0;
  expect(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading CUDA events");
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

}}  // namespace farandole::backend
