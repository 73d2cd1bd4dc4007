// Messages by ncclSend and ncclRecv between devices.
//
// What is started before a `wait` makes one NCCL group, as the messages of a round must. `wait` hands the group to the
// stream and returns: later copies, sums and messages are queued behind it there in order, so rounds follow one another
// without the host.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include "backend/data_place.hpp"
#include "backend/endpoint.hpp"

namespace farandole { inline namespace backend {

// Data in a device's memory, worked on in the order of one CUDA stream, timed by CUDA events.

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

class NcclEndpoint final : public Endpoint {
 public:
  /// Every rank makes one with the same `id`.
  NcclEndpoint(const ncclUniqueId& id, int rank, int ranks, int device);
  ~NcclEndpoint() override;
  NcclEndpoint(const NcclEndpoint&) = delete;
  NcclEndpoint& operator=(const NcclEndpoint&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  DevicePlace& place() override { return place_; }
  void send(std::span<const float> data, int to) override;
  void receive(std::span<float> data, int from) override;
  void wait() override;
  bool is_done() override;
  void idle(Seconds /*at_most*/) override {}
  std::vector<double> allgather_scalar(double number) override;

  [[nodiscard]] ncclComm_t communicator() const { return communicator_; }
  [[nodiscard]] cudaStream_t stream() const { return place_.stream(); }

 private:
  void open_group();

  int rank_;
  int ranks_;
  DevicePlace place_;
  ncclComm_t communicator_ = nullptr;
  double* numbers_ = nullptr;  // on the device: this rank's, then all ranks'
  bool in_group_ = false;
};

}}  // namespace farandole::backend
