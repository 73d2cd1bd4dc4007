// Messages by MPI_Isend and MPI_Irecv on a communicator of our own.
#pragma once

#include <mpi.h>

#include "backend/endpoint.hpp"

namespace farandole {

class MpiEndpoint final : public Endpoint {
 public:
  MpiEndpoint();
  ~MpiEndpoint() override;
  MpiEndpoint(const MpiEndpoint&) = delete;
  MpiEndpoint& operator=(const MpiEndpoint&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int ranks() const override { return ranks_; }
  void send(std::span<const float> data, int to) override;
  void receive(std::span<float> data, int from) override;
  void wait() override;
  std::vector<double> everyones(double number) override;

  [[nodiscard]] MPI_Comm communicator() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int ranks_ = 1;
  std::vector<MPI_Request> requests_;
};

}  // namespace farandole
