// Data in a device's memory, worked on in the order of one CUDA stream, timed by CUDA events.
#pragma once

#include <cuda_runtime_api.h>

#include "backend/data_place.hpp"

namespace farandole { inline namespace backend {

class DevicePlace final : public DataPlace {
 public:
  /// Makes that device the calling thread's, and a stream on it.
  explicit DevicePlace(int device);
  ~DevicePlace() override;
  DevicePlace(const DevicePlace&) = delete;
  DevicePlace& operator=(const DevicePlace&) = delete;

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  /// Until all that was asked for is done.
  void synchronise();
  /// Whether it is.
  [[nodiscard]] bool is_done() const;

  Room allocate(std::size_t floats) override;
  void upload(std::span<const float> from_host, std::span<float> to) override;
  void download(std::span<const float> from, std::span<float> to_host) override;
  void copy(std::span<const float> from, std::span<float> to) override;
  void add(std::span<const float> summands, std::span<float> sums) override;
  Seconds time(const std::function<void()>& act) override;

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}}  // namespace farandole::backend
