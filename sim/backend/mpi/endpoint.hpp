// Messages by MPI_Isend and MPI_Irecv on a communicator of our own.
#pragma once

#include <mpi.h>

#include "backend/endpoint.hpp"
#include "backend/mpi/nap.hpp"

namespace farandole {

class MpiEndpoint final : public Endpoint {
 public:
  /// Duplicates the communicator. `nap`, which must outlive it, is how it waits.
  MpiEndpoint(MPI_Comm like, Nap& nap);
  ~MpiEndpoint() override;
  MpiEndpoint(const MpiEndpoint&) = delete;
  MpiEndpoint& operator=(const MpiEndpoint&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  DataPlace& place() override { return place_; }
  void send(std::span<const float> data, int to) override;
  void receive(std::span<float> data, int from) override;
  void wait() override;
  bool is_done() override;
  void idle(Seconds at_most) override { nap_.take(at_most); }
  std::vector<double> everyones(double number) override;

  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }

 private:
  void wait_for(std::vector<MPI_Request>& requests);

  Nap& nap_;
  HostPlace place_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace farandole
