// Messages by ncclSend and ncclRecv between devices.
//
// What is started before a `wait` makes one NCCL group, as the messages of a round must. `wait` hands the group to the
// stream and returns: later copies, sums and messages are queued behind it there in order, so rounds follow one another
// without the host.
#pragma once

#include <nccl.h>

#include "backend/endpoint.hpp"
#include "backend/nccl/device_place.hpp"

namespace farandole { inline namespace backend {

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
